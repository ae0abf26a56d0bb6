import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { operation, plan } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";

const THROTTLE = "/api/v1/operations/op_1/throttle";
const MIB = 1024 * 1024;
const limit = (more: object = {}) => ({
  throttle_bytes_per_s: 50 * MIB,
  is_set: true,
  can_be_changed: true,
  least_bytes_per_s: 1024,
  etag: '"1"',
  ...more,
});
const open = (found: unknown, more: Answers = {}, about: object = {}) =>
  openPage("/operations/op_1", {
    "GET /console/api/pages/operation/op_1": {
      parts: {
        operation: ok(operation({ kind: "cluster.replace_broker", state: "running", ...about })),
        plan: ok(plan()),
      },
    },
    [`GET ${THROTTLE}`]: found,
    ...more,
  });

describe("the limit of what an operation copies", () => {
  it("is changed and lifted while it copies", async () => {
    const { asked } = await open(limit(), { [`POST ${THROTTLE}`]: limit() });
    expect(await screen.findByText("Set on the brokers.")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Limit per broker, MiB/s"), { target: { value: "25" } });
    press("Change limit");
    const posted = () => asked.filter(({ method }) => method === "POST").map(({ body }) => body);
    await waitFor(() => expect(posted()).toEqual([{ throttle_bytes_per_s: 25 * MIB }]));
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Lift limit" }).hasAttribute("disabled")).toBe(false),
    );
    press("Lift limit");
    await waitFor(() => expect(posted()).toHaveLength(2));
    expect(posted()[1]).toEqual({ throttle_bytes_per_s: null });
  });

  it("offers nothing that the brokers would not take", async () => {
    await open(limit({ least_bytes_per_s: MIB }), {}, { kind: "cluster.empty_log_directory" });
    fireEvent.change(await screen.findByLabelText("Limit per broker, MiB/s"), { target: { value: "0.5" } });
    expect(screen.getByRole("button", { name: "Change limit" }).hasAttribute("disabled")).toBe(true);
  });

  it("says why it cannot be changed any more, and has no form then", async () => {
    await open(limit({ can_be_changed: false, is_set: false, throttle_bytes_per_s: null }));
    expect(await screen.findByText("Nothing more is copied, so it cannot be changed.")).toBeTruthy();
    expect(screen.getByText("No limit now")).toBeTruthy();
    expect(screen.queryByLabelText("Limit per broker, MiB/s")).toBeNull();
  });

  it("shows a refusal of the service", async () => {
    await open(limit(), { [`POST ${THROTTLE}`]: new Refusal(409, "Conflict", "What it copies has arrived.") });
    fireEvent.click(await screen.findByRole("button", { name: "Lift limit" }));
    expect(await screen.findByText("What it copies has arrived.")).toBeTruthy();
  });

  it("is not there of an operation that copies nothing or has ended", async () => {
    const { asked } = await open(limit(), {}, { state: "succeeded" });
    await screen.findByText("Steps");
    expect(asked.some(({ url }) => url.includes("/throttle"))).toBe(false);
  });
});
