import { MantineProvider } from "@mantine/core";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { NewUserForm } from "./new-user-form";

function open(onPlan = vi.fn()) {
  render(
    <MantineProvider env="test">
      <NewUserForm opened draft="new-user/c1" onClose={() => undefined} onPlan={onPlan} />
    </MantineProvider>,
  );
  return onPlan;
}

const fill = (label: string, value: string) => fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

describe("new user", () => {
  beforeEach(() => sessionStorage.clear());

  it("makes one plan of a user and its access", () => {
    const onPlan = open();
    fill("User name", "orders-service");
    press("Next: access");
    fill("Topic", "orders");
    fill("Consumer group", "workers");
    press("Review plan");
    const rule = { principal: "User:orders-service", host: "*", permission: "ALLOW", pattern_type: "LITERAL" };
    expect(onPlan).toHaveBeenCalledExactlyOnceWith({
      username: "orders-service",
      mechanism: "SCRAM-SHA-512",
      acls: [
        { ...rule, operation: "READ", resource_type: "TOPIC", resource_name: "orders" },
        { ...rule, operation: "DESCRIBE", resource_type: "TOPIC", resource_name: "orders" },
        { ...rule, operation: "READ", resource_type: "GROUP", resource_name: "workers" },
      ],
    });
  });

  it("makes a user without access as well, and no plan of a name that is none", () => {
    const onPlan = open();
    fill("User name", "no spaces");
    press("Next: access");
    press("Review plan");
    expect(onPlan).not.toHaveBeenCalled();
    expect(screen.getByText(/Letters, digits, dot/)).toBeTruthy();
    fill("User name", "app");
    press("Review plan");
    expect(onPlan).toHaveBeenCalledExactlyOnceWith({ username: "app", mechanism: "SCRAM-SHA-512" });
  });

  it("keeps its input over a reload", () => {
    open();
    fill("User name", "orders-service");
    press("Next: access");
    fill("Topic", "orders");
    cleanup();
    open();
    expect((screen.getByLabelText("User name") as HTMLInputElement).value).toBe("orders-service");
    press("Next: access");
    expect((screen.getByLabelText("Topic") as HTMLInputElement).value).toBe("orders");
  });
});
