import { describe, expect, expectTypeOf, it } from "vitest";
import { type AnswerOf, type BlanksOf, type BodyOf, filled, type QueryOf } from "./addresses";
import type { AuditEventPage, Operation, Plan, PlanInputs, PlanRequest, Session } from "./types";

describe("addresses", () => {
  it("take any character in their blanks, and leave the rest as it is", () => {
    expect(filled("/console/api/session")).toBe("/console/api/session");
    expect(filled("topic/{cluster_id}/{topic}", { cluster_id: "c1", topic: "a/b ü?{x}" })).toBe(
      "topic/c1/a%2Fb%20%C3%BC%3F%7Bx%7D",
    );
  });

  it("say what is taken and answered", () => {
    expectTypeOf<BodyOf<"/api/v1/plans">>().toEqualTypeOf<PlanRequest>();
    expectTypeOf<AnswerOf<"post", "/api/v1/plans">>().toEqualTypeOf<Plan>();
    expectTypeOf<AnswerOf<"post", "/api/v1/operations">>().toEqualTypeOf<Operation>();
    expectTypeOf<BodyOf<"/console/api/login">>().toEqualTypeOf<{ username: string; password: string }>();
    expectTypeOf<BodyOf<"/console/api/logout">>().toEqualTypeOf<undefined>();
    expectTypeOf<AnswerOf<"get", "/console/api/session">>().toEqualTypeOf<Session>();
    expectTypeOf<AnswerOf<"get", "/api/v1/audit-events">>().toEqualTypeOf<AuditEventPage>();
    expectTypeOf<QueryOf<"/console/api/session">>().toEqualTypeOf<never>();
    expectTypeOf<keyof BlanksOf<"post", "/api/v1/operations/{operation_id}/secret">>().toEqualTypeOf<"operation_id">();
  });

  it("say what each kind of plan takes", () => {
    expectTypeOf<PlanInputs<"topic.partitions">>().toEqualTypeOf<{
      name: string;
      partitions: number;
      adopt?: boolean;
    }>();
    expectTypeOf<PlanInputs<"offset.reset">["strategy"]>().toEqualTypeOf<
      "earliest" | "latest" | "timestamp" | "duration" | "shift" | "offset" | "file" | "copy"
    >();
  });
});
