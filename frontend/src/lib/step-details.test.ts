import { describe, expect, it } from "vitest";
import { STEP_DETAILS } from "@/generated/sentences";
import { stepDetails } from "@/words/en/step-details";
import { detailText, errorText, remainsTexts } from "./step-details";

const part = (code: string, params: Record<string, string | number | null>, text = "Fly.") => ({ code, params, text });

describe("details of steps", () => {
  it("are there for everything that steps say, with the same parameters, in the service's words", () => {
    expect(Object.keys(STEP_DETAILS).length).toBeGreaterThan(150);
    expect(stepDetails.sentences).toEqual(STEP_DETAILS);
  });

  it("are the service's own where they have no codes, or one that is not known", () => {
    expect(detailText({ detail: "Fly.", detail_parts: [] })).toBe("Fly.");
    expect(detailText({ detail: "", detail_parts: [part("moon/fly", {})] })).toBe("Fly.");
    expect(detailText({ detail: "", detail_parts: [part("read-back/refused", {})] })).toBe("Fly.");
  });

  it("say behind a sentence who says it", () => {
    const parts = [
      part("lead/waiting", {}),
      part("obstacle/replicas-behind", { partitions: 1, names: "a-0", more: 0 }),
      part("tail/as-broker-says", { broker: "2" }),
      part("directory/moves-ended", { moves: 0 }),
    ];
    expect(detailText({ detail: "", detail_parts: parts })).toBe(
      "waiting: 1 partition with replicas out of sync (a-0), as broker 2 says; no move was under way",
    );
  });

  it("are sentences, with a space between them, where they say what remains", () => {
    const restarted = part("remains/restarted", { count: 1, brokers: "2" });
    const left = part("remains/not-restarted", { count: 2, brokers: "1, 3" });
    expect(remainsTexts({ remains: ["Old.", "New."], remains_parts: [[], [restarted, left]] })).toEqual([
      "Old.",
      "Restarted: broker 2. Not restarted: brokers 1, 3.",
    ]);
    expect(remainsTexts({ remains: ["Old."], remains_parts: null })).toEqual(["Old."]);
    expect(remainsTexts({ remains: null, remains_parts: null })).toBeNull();
  });

  it("say what a step failed with, and leave what came from elsewhere as it came", () => {
    const parts = [
      part("remains/restarted", { count: 1, brokers: "2" }),
      part("lead/step-took-longer", { did_step: "topic.create/create", seconds: 60 }),
      part("as-it-came", { said: "NOT_CONTROLLER" }),
    ];
    expect(errorText({ detail: "Fly.", detail_parts: parts })).toBe(
      "Restarted: broker 2. Create the topic took longer than 60 s; last seen: NOT_CONTROLLER",
    );
    expect(errorText({ detail: "Fly." })).toBe("Fly.");
  });

  it("name steps by their titles", () => {
    const params = { did_step: "topic.create/create", back_step: "topic.create/remove", reason: "no answer" };
    const said = (given: typeof params) =>
      remainsTexts({ remains: ["Fly."], remains_parts: [[part("remains/may-stay/failed", given)]] });
    expect(said(params)).toEqual([
      "What “Create the topic” did may stay: “Remove the topic while it is empty” failed (no answer).",
    ]);
    expect(said({ ...params, back_step: "moon/fly" })).toEqual(["Fly."]);
  });

  it("are the catalogue's, one after the other, where it is", () => {
    const parts = [
      part("read-back/as-planned", {}),
      part("lead/unknown", {}),
      part("read-back/silent", { count: 2, brokers: "2, 3" }),
      part("read-back/refused", { count: 1, brokers: "4", error: "NOT_CONTROLLER" }),
    ];
    expect(detailText({ detail: "", detail_parts: parts })).toBe(
      "read back as planned; unknown: brokers 2, 3 did not answer; broker 4 refused (NOT_CONTROLLER)",
    );
  });
});
