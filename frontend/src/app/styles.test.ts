import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { theme } from "./theme";

// A selector may stand on several lines.
const css = readFileSync("src/app/styles.css", "utf8").replace(/,\s+:root/g, ", :root");

/** The custom properties of the first block with exactly this selector. */
function tokens(selector: string): Record<string, string> {
  const block = css.split(`${selector} {`)[1]?.split("}")[0] ?? "";
  return Object.fromEntries([...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].map((found) => [found[1], found[2]]));
}

function luminance(hex: string): number {
  const channel = (at: number) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((left, right) => left - right) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const light = tokens(":root");
const dark = tokens(':root[data-mantine-color-scheme="dark"]');
const both = tokens(':root[data-mantine-color-scheme="light"], :root[data-mantine-color-scheme="dark"]');
const inputs = { light: "#ffffff", dark: theme.colors?.dark?.[6] ?? "" };

describe("colours of fields", () => {
  it("takes placeholders from the muted text, in both schemes", () => {
    expect(both["--mantine-color-placeholder"]).toBe("var(--ps-muted)");
    expect(css.match(/--mantine-color-placeholder/g)).toHaveLength(1);
  });

  it.each(["--ps-muted", "--ps-bad"])("shows %s at 4.5:1 or better on inputs", (name) => {
    expect(contrast(light[name] ?? "", inputs.light)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark[name] ?? "", inputs.dark)).toBeGreaterThanOrEqual(4.5);
  });
});
