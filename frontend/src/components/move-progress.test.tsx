import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press, rowsOf } from "@/testing/app";
import { operation, plan, session } from "@/testing/samples";
import { type Answers, type Asked, ok, Refusal } from "@/testing/server";

const MOVES = "GET /api/v1/operations/op_1/moves";
const row = (partition: number, more: object = {}) => ({
  topic: "sales",
  partition,
  before: [1, 2],
  after: [2, 3],
  state: "moving",
  bytes_moved: 1024,
  bytes_to_move: 4096,
  ...more,
});
const page = (more: object = {}) => ({
  data: [row(0)],
  page: { next: null, has_more: false },
  unknown: [],
  goes_back: false,
  throttle_bytes_per_s: 10 * 1024 * 1024,
  ...more,
});
const open = (moves: unknown, more: Answers = {}, state: "running" | "succeeded" = "running") => {
  const found = operation({ kind: "reassignment", state });
  return openPage("/operations/op_1", {
    "GET /console/api/pages/operation/op_1": { parts: { operation: ok(found), plan: ok(plan()) } },
    [MOVES]: moves,
    ...more,
  });
};

describe("the progress of a reassignment", () => {
  it("shows each partition with its state and its bytes, and unknown where nobody says", async () => {
    await open(
      page({
        data: [
          row(0),
          row(1, { state: "waiting", bytes_moved: 0 }),
          row(2, { state: "unknown", bytes_moved: null, bytes_to_move: null }),
          row(3, { bytes_moved: null }),
        ],
        unknown: [{ reason: "broker 3 did not answer", brokers: [3] }],
      }),
    );
    expect(await rowsOf("Progress by partition")).toEqual([
      ["sales-0", "12", "23", "moves", "1 KiB of 4 KiB"],
      ["sales-1", "12", "23", "waits for its turn", "0 B of 4 KiB"],
      ["sales-2", "12", "23", "unknown", "unknown"],
      ["sales-3", "12", "23", "moves", "unknown of 4 KiB"],
    ]);
    expect(screen.getByText("broker 3 did not answer")).toBeTruthy();
  });

  it("goes from page to page", async () => {
    await open(({ url }: Asked) =>
      url.includes("cursor=c2")
        ? page({ data: [row(50)] })
        : page({ data: [row(0)], page: { next: "c2", has_more: true } }),
    );
    expect((await rowsOf("Progress by partition"))[0]?.[0]).toBe("sales-0");
    press("Next partitions");
    await waitFor(async () => expect((await rowsOf("Progress by partition"))[0]?.[0]).toBe("sales-50"));
    press("Previous partitions");
    await waitFor(async () => expect((await rowsOf("Progress by partition"))[0]?.[0]).toBe("sales-0"));
  });

  it("changes and lifts the limit", async () => {
    const { asked } = await open(page(), {
      "POST /api/v1/operations/op_1/throttle": { throttle_bytes_per_s: 1, is_set: true },
    });
    fireEvent.change(await screen.findByLabelText("Limit per broker, MiB/s"), { target: { value: "25" } });
    press("Change limit");
    const posted = () => asked.filter(({ method }) => method === "POST").map(({ body }) => body);
    await waitFor(() => expect(posted()).toEqual([{ throttle_bytes_per_s: 25 * 1024 * 1024 }]));
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Lift limit" }).hasAttribute("disabled")).toBe(false),
    );
    press("Lift limit");
    await waitFor(() => expect(posted()[1]).toEqual({ throttle_bytes_per_s: null }));
  });

  it("says why the limit was not changed", async () => {
    await open(page(), {
      "POST /api/v1/operations/op_1/throttle": new Refusal(409, "Conflict", "nothing of it moves any more"),
    });
    press(await screen.findByRole("button", { name: "Lift limit" }).then(() => "Lift limit"));
    expect(await screen.findByText("nothing of it moves any more")).toBeTruthy();
  });

  it("offers no limit to who may only look, nor once it has ended", async () => {
    await open(page(), {}, "succeeded");
    await rowsOf("Progress by partition");
    expect(screen.queryByRole("button", { name: "Lift limit" })).toBeNull();
    await open(page({ goes_back: true }), { "GET /console/api/session": session({ can_write: false }) });
    expect((await screen.findAllByText("Partitions on their way back")).length).toBeGreaterThan(0);
  });
});
