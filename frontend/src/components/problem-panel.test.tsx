import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { ApiError } from "@/lib/problem";
import { ProblemPanel } from "./problem-panel";

const show = (error: unknown) =>
  render(
    <MantineProvider env="test">
      <ProblemPanel error={error} />
    </MantineProvider>,
  );

describe("a problem", () => {
  it("names fields in words and never by pointer, and says nothing twice", async () => {
    show(
      new ApiError({
        title: "Some fields are not valid",
        status: 422,
        detail: "inputs/replication_factor: Must be at most 3. inputs/configs/retention.ms: retention.ms is 'soon'.",
        errors: [
          { pointer: "/inputs/replication_factor", code: "max_value", detail: "Must be at most 3." },
          { pointer: "/inputs/configs/retention.ms", code: "invalid", detail: "retention.ms is 'soon'." },
        ],
      }),
    );
    await screen.findByText("Replication factor:");
    expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
      "Replication factor: Must be at most 3.",
      "retention.ms is 'soon'.",
    ]);
    expect(screen.getByRole("alert").textContent).not.toContain("inputs/");
  });

  it("that is about no field is its sentence", () => {
    show(new ApiError({ title: "The plan is stale", status: 409, detail: "Offsets have moved." }));
    expect(screen.getByRole("alert").textContent).toBe("The plan is staleOffsets have moved.");
  });
});
