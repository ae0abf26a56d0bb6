import { afterEach, describe, expect, it, vi } from "vitest";
import { createElement, type ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { parted, pseudo } from "@/testing/pseudo";
import { words as alerts } from "./alerts";
import * as en from "./en";
import { grammar } from "./grammar";
import { words } from "./index";
import { pick, speak } from "./languages";
import { rich } from "./rich";
import { languageTag, speakIn } from "./shown";

afterEach(() => speakIn(null));
const html = (said: ReactElement) => renderToStaticMarkup(said);

describe("plural forms", () => {
  it("are those of the language, and its numbers", () => {
    const forms = { one: "# plik", few: "# pliki", many: "# plików", other: "# pliku" };
    const { count } = grammar("pl");
    expect([1, 3, 5, 22].map((value) => count(value, forms))).toEqual(["1 plik", "3 pliki", "5 plików", "22 pliki"]);
    expect(grammar("de").count(12345, { one: "# Thema", other: "# Themen" })).toBe("12.345 Themen");
    expect(grammar("en-US").count(1, { one: "# topic", other: "# topics" })).toBe("1 topic");
    expect(grammar("en-US").count(0, { one: "# topic", other: "# topics" })).toBe("0 topics");
  });
  it("fall back to the form that every language has", () =>
    expect(grammar("pl").count(3, { other: "# more" })).toBe("3 more"));
});

describe("a rich sentence", () => {
  it("has its slots where the language puts them", () =>
    expect(html(rich`since ${createElement("b", null, "now")}, ${"here"}`)).toBe("since <b>now</b>, here"));
});

describe("the language that is shown", () => {
  it("is English unless another one is used, and English again after it", () => {
    const held = words.common.errors;
    expect(alerts.alertPage.severity).toBe("Severity");
    speakIn({ ...pseudo(en), tag: "de" });
    expect(languageTag()).toBe("de");
    expect(alerts.alertPage.severity).not.toBe("Severity");
    // Who took a group before the language was known has its words, too.
    expect(held.cancelled).toBe(words.common.errors.cancelled);
    expect(held.cancelled).not.toBe("Request cancelled");
    speakIn(null);
    expect(held.cancelled).toBe("Request cancelled");
    expect(languageTag()).toBe("en-US");
  });
  it("is the first that is wanted and there, by itself or by its base", () => {
    const offered = ["en", "de", "pt-BR"];
    expect(pick(["fr", "de-AT", "en"], offered)).toBe("de");
    expect(pick(["PT-br"], offered)).toBe("pt-BR");
    expect(pick(["fr"], offered)).toBe("en");
    expect(pick([], offered)).toBe("en");
  });
  it("is what somebody chose here, before what the browser says", async () => {
    localStorage.setItem("penstock.language", "de");
    expect(await speak({ en: null, de: () => Promise.resolve(pseudo(en)) })).toBe("de");
    expect(document.documentElement.lang).toBe("de");
    expect(words.common.tryAgain).not.toBe("Try again");
  });
  it("stays English when the other one cannot be loaded", async () => {
    vi.stubGlobal("navigator", { languages: ["de"] });
    expect(await speak({ en: null, de: () => Promise.reject(new Error("away")) })).toBe("en");
    expect(words.common.tryAgain).toBe("Try again");
  });
});

describe("the language made by a machine", () => {
  it("puts every sentence in brackets, and leaves what it is given as it is", () => {
    speakIn(pseudo(en));
    expect(alerts.alertPage.severity).toMatch(/^⟦Šéṽéříŧý~+⟧$/);
    expect(alerts.alertHistory.still("firing")).toMatch(/^⟦šŧíĺĺ firing~+⟧$|^⟦.* firing~+⟧$/);
    expect(parted(html(alerts.alertTable.since(createElement("b", null, "orders")))).outside).toBe("<b>orders</b>");
  });
});
