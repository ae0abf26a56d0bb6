import { describe, expect, it } from "vitest";
import { DIFFERENCES } from "@/generated/sentences";
import { differences } from "@/words/en/differences";
import { differenceText } from "./differences";

describe("sentences of what is not as it was left", () => {
  it("are there for every one of the service, with the same parameters, in its words", () => {
    expect(Object.keys(DIFFERENCES).length).toBeGreaterThan(10);
    expect(differences).toEqual(DIFFERENCES);
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
