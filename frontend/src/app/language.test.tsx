/** States of pages in a language made by a machine; every page with its data is walked in `every-page/`. */
import { describe, expect, it } from "vitest";
import { englishAt } from "@/testing/other-language";
import { cluster, operation, plan, step } from "@/testing/samples";
import { ok, Refusal, stale, unavailable } from "@/testing/server";

describe("in another language no English is left", () => {
  it("on a page whose parts are missing or old", async () => {
    const parts = {
      clusters: stale([cluster()], "The brokers are away."),
      attention: unavailable("It took too long."),
      operations: ok([]),
    };
    expect(await englishAt("/", { "GET /console/api/pages/overview": { parts } })).toEqual([]);
  });

  it("where the server refuses", async () => {
    const refused = new Refusal(404, "Not found", "The alert was not found.");
    expect(await englishAt("/alerts/al_9", { "GET /api/v1/alerts/al_9": refused })).toEqual([]);
  });

  it("where a field is refused, which has its name from the catalogue", async () => {
    const errors = [{ pointer: "/lifetime_s", code: "max_value", detail: "It is 30 days at most." }];
    const refused = new Refusal(422, "Some fields are not valid", "See the fields.", { errors });
    expect(await englishAt("/audit", { "GET /api/v1/audit-events": refused }, ["oidc", "system"])).toEqual([]);
  });

  it("on an operation that has left something", async () => {
    const params = { did_step: "topic.create/create", back_step: "topic.create/remove" };
    const notRun = "What “Create the topic” did may stay: “Remove the topic while it is empty” was not run.";
    const written = "The topic sales stays: it was made, and records have been written to it.";
    const left = {
      remains: [notRun, written],
      remains_parts: [
        [{ code: "remains/may-stay", params, text: notRun }],
        [{ code: "remains/topic-written", params: { topic: "sales" }, text: written }],
      ],
    };
    const parts = { operation: ok(operation({ state: "failed", ...left })), plan: ok(plan()) };
    expect(await englishAt("/operations/op_1", { "GET /console/api/pages/operation/op_1": { parts } })).toEqual([]);
    const free = {
      ...left,
      remains_parts: [left.remains_parts[0] ?? [], [{ code: "moon/fly", params: {}, text: written }]],
    };
    const newer = { operation: ok(operation({ state: "failed", ...free })), plan: ok(plan()) };
    expect(await englishAt("/operations/op_1", { "GET /console/api/pages/operation/op_1": { parts: newer } })).toEqual([
      written,
    ]);
  });

  it("on an operation that has failed", async () => {
    const detail = "Broker 2 is no broker of the cluster any more.";
    const problem = { type: "about:blank", title: "", status: 409, code: "broker-gone", retryable: false };
    const said = (code: string) => {
      const error = { ...problem, detail, detail_parts: [{ code, params: { broker: "2" }, text: detail }] };
      const parts = { operation: ok(operation({ state: "failed", remains: [], error })), plan: ok(plan()) };
      return { "GET /console/api/pages/operation/op_1": { parts } };
    };
    expect(await englishAt("/operations/op_1", said("failed/broker-gone"))).toEqual([]);
    expect(await englishAt("/operations/op_1", said("moon/fly"))).toEqual([detail]);
  });

  it("on a roll that waits", async () => {
    const behind = "1 partition with replicas out of sync (a-0)";
    const led = "2 partitions that prefer it are led by others";
    const times = { since: null, restarted_at: null, registered_at: null, in_sync_at: null };
    const said = (code: string, params: Record<string, string | number>, text: string) => [{ code, params, text }];
    const roll = {
      brokers: [
        {
          ...times,
          id: 2,
          state: "done",
          note: led,
          note_parts: said("roll/led-by-others", { partitions: 2 }, led),
          seen: null,
        },
      ],
      waiting_for: [behind],
      waiting_for_parts: [said("obstacle/replicas-behind", { partitions: 1, names: "a-0", more: 0 }, behind)],
    } as const;
    const rolling = operation({ kind: "cluster.restart", state: "running", outcome: { roll } } as never);
    const parts = { operation: ok(rolling), plan: ok(plan()) };
    expect(await englishAt("/operations/op_1", { "GET /console/api/pages/operation/op_1": { parts } })).toEqual([]);
  });

  it("but what a step says by a code that the console does not know", async () => {
    const told = (code: string, text: string) => ({ detail: text, detail_parts: [{ code, params: {}, text }] });
    const steps = [
      step(told("read-back/as-planned", "read back as planned")),
      step({ index: 1, ...told("moon/fly", "flown to it") }),
    ];
    const parts = { operation: ok(operation({ steps })), plan: ok(plan()) };
    expect(await englishAt("/operations/op_1", { "GET /console/api/pages/operation/op_1": { parts } })).toEqual([
      "flown to it",
    ]);
  });
});
