import { afterEach, describe, expect, it } from "vitest";
import { pseudo } from "@/testing/pseudo";
import * as en from "@/words/en";
import { speakIn } from "@/words/shown";
import { filled, lasting } from "./templates";
import { warningText } from "./sentences";

afterEach(() => speakIn(null));

describe("a template", () => {
  it("takes the form of a number, and writes it by the rules of the language", () => {
    const text = "{topics:one=# topic|other=# topics} go{more:none=|other= and # more}.";
    expect(filled(text, { topics: 1, more: 0 })).toBe("1 topic go.");
    expect(filled(text, { topics: 1234, more: 2 })).toBe("1,234 topics go and 2 more.");
  });

  it("takes the plural forms of another language", () => {
    const text = "{topics:one=# temat|few=# tematy|other=# tematów}";
    speakIn({ tag: "pl", words: en });
    expect([1, 3, 5].map((topics) => filled(text, { topics }))).toEqual(["1 temat", "3 tematy", "5 tematów"]);
  });

  it("takes the form of a text, of each of several, and of what is not known", () => {
    expect(filled("{state:failed=broken|other=# it is}", { state: "failed" })).toBe("broken");
    expect(filled("{state:failed=broken|other=# it is}", { state: "open" })).toBe("open it is");
    expect(filled("{names:each|*=the others|other=#}", { names: "a, *" })).toBe("a, the others");
    expect(filled("{size_bytes:unknown=nobody knows}", { size_bytes: null })).toBe("nobody knows");
    expect(filled("{quotas}", { quotas: "a, b" }, { quotas: { a: "first", b: "second" } })).toBe("first, second");
  });

  it.each(["unknown", "other", "none", "one", "#", "{x}", "a|b=c", "$&"])(
    "takes %s as a name that somebody gave",
    (client) => {
      expect(filled("{client:unknown=every client id|other=client id #}", { client })).toBe(`client id ${client}`);
      expect(filled("{clients:each|unknown=all|other=#}", { clients: client })).toBe(client);
      expect(filled("{client:unknown=every client id|other=client id #}", { client: null })).toBe("every client id");
    },
  );

  it("writes a number in the unit that its name ends with, rounded and exactly", () => {
    expect(filled("{size_bytes}", { size_bytes: 1_610_612_736 })).toBe("1.5 GiB (1,610,612,736 bytes)");
    expect(filled("{size_bytes:unknown=-}", { size_bytes: 1 })).toBe("1 byte");
    expect(filled("{limit_bytes_per_s}", { limit_bytes_per_s: 1_572_864 })).toBe("1.5 MiB/s (1,572,864 bytes/s)");
    expect(filled("{kept_ms}, {lease_s:other=for #}", { kept_ms: 604_800_000, lease_s: 5400 })).toBe(
      "7 days, for 1 hour 30 minutes",
    );
    expect(filled("{until_at}", { until_at: "2026-01-31T12:00:00Z" })).toContain("(2026-01-31T12:00:00Z)");
    expect(lasting(0)).toBe("0 milliseconds");
  });

  it("is none when a parameter lacks or has no form here", () => {
    expect(filled("{a} and {b}", { a: "x" })).toBeNull();
    expect(filled("{state:failed=broken}", { state: "open" })).toBeNull();
    expect(filled("{size_bytes}", { size_bytes: null })).toBeNull();
    expect(filled("{quotas}", { quotas: "c" }, { quotas: { a: "first" } })).toBeNull();
  });

  it("is put in the language that is shown, with its names and numbers as they are", () => {
    speakIn(pseudo(en));
    const text = warningText({ text_code: "deny-lifted", params: { rules: 2 }, text: "Fly." });
    expect(text).toMatch(/^⟦.* 2 .*⟧$/u);
    expect(text).not.toContain("Without");
  });
});
