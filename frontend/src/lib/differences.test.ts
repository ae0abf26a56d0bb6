import { describe, expect, it } from "vitest";
import { DIFFERENCES, DRIFT_PROBLEMS, DRIFT_UNREAD } from "@/generated/sentences";
import { differences } from "@/words/en/differences";
import { driftReasons } from "@/words/en/drift-reasons";
import { adoptProblem, backProblem, differenceText, unreadText } from "./differences";

describe("sentences of what is not as it was left", () => {
  it("are there for every one of the service, with the same parameters, in its words", () => {
    expect(Object.keys(DIFFERENCES).length).toBeGreaterThan(10);
    expect(differences).toEqual(DIFFERENCES);
    expect(driftReasons).toEqual({ problems: DRIFT_PROBLEMS, unread: DRIFT_UNREAD });
  });

  it("say why it is not mended by a plan, or not known in full", () => {
    const back = { back_problem: "Fly.", back_problem_code: "too-many", back_problem_params: { most: 1000 } };
    expect(backProblem(back)).toBe("More than 1,000 partitions differ: make plans of parts of them.");
    expect(backProblem({ ...back, back_problem_code: "of-tomorrow" })).toBe("Fly.");
    expect(adoptProblem({ adopt_problem: "", adopt_problem_code: null, adopt_problem_params: {} })).toBe("");
    const unread = { unread: "Fly.", unread_code: "not-whole", unread_params: { brokers: "2" } };
    expect(unreadText(unread)).toBe("Of broker 2 not all of the audit log could be read.");
    expect(unreadText({ ...unread, unread_code: null })).toBe("Fly.");
  });

  it("say what is not set, and whom a quota is of", () => {
    const setting = { key: "log.retention.ms", observed: null, desired: "7" };
    expect(differenceText({ text_code: "setting", params: setting, text: "" })).toBe(
      "log.retention.ms is not set; it was left at 7.",
    );
    const quota = { key: "producer_byte_rate", client: "etl", user: null, observed: "1", desired: null };
    expect(differenceText({ text_code: "quota/client-of-user", params: quota, text: "" })).toBe(
      "producer_byte_rate of client id etl of every user is 1; the last verified operation took it away.",
    );
  });

  it("are the service's own where the code is not known, or a parameter lacks", () => {
    expect(differenceText({ text_code: "of-tomorrow", params: {}, text: "Fly." })).toBe("Fly.");
    expect(differenceText({ text_code: "acl/added", params: {}, text: "Fly." })).toBe("Fly.");
  });
});
