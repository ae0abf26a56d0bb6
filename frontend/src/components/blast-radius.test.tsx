import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { extent } from "@/testing/samples";
import { BlastRadius, extentText, toleranceText } from "./blast-radius";

const AWAY = [{ reason: "broker 2 did not answer", brokers: [2] }];
const show = (extents: Parameters<typeof BlastRadius>[0]["extents"]) =>
  render(
    <MantineProvider env="test">
      <BlastRadius extents={extents} />
    </MantineProvider>,
  );

describe("one extent", () => {
  it.each([
    [{}, "6,600"],
    [{ value: 0, at_least: 0 }, "0"],
    [{ value: null, at_least: 4400, unknown: AWAY }, "at least 4,400; the rest is unknown: broker 2 did not answer"],
    [{ value: null, at_least: 0, unknown: AWAY }, "unknown: broker 2 did not answer"],
    [{ name: "bytes", value: 2048, at_least: 2048 }, "2 KiB"],
  ])("%o reads %s", (fields, text) => {
    expect(extentText(extent(fields))).toBe(text);
  });

  it.each([
    [{}, "up to 7,260"],
    [{ limit: 0 }, "must stay so"],
    [{ limit: null }, "may change"],
    [{ names: [], limit: 0 }, "no other may come"],
    [{ name: "bytes", limit: 4096 }, "up to 4 KiB"],
  ])("%o holds %s", (fields, text) => {
    expect(toleranceText(extent(fields))).toBe(text);
  });
});

describe("what a plan reaches", () => {
  it("is a row each, with the names that it has", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    show([extent(), extent({ name: "groups", code: "groups-reading", value: 10, at_least: 10, names })]);
    expect(await rowsOf("What this reaches")).toEqual([
      ["Records", "6,600", "up to 7,260"],
      ["Groups that read it", "10a, b, c, d, e, f, g, h and 2 more", "no other may come"],
    ]);
  });

  it.each([
    [["a"], 2, "3a and 2 that you may not see"],
    [[], 3, "33 that you may not see"],
  ])("counts what the reader has no grant for (%o, %i)", async (names, hidden, text) => {
    show([extent({ name: "groups", code: "groups-reading", value: 3, at_least: 3, names, hidden })]);
    expect((await rowsOf("What this reaches"))[0]?.[1]).toBe(text);
  });

  it.each([undefined, []])("is nothing where a plan measures nothing (%o)", (extents) => {
    show(extents);
    expect(screen.queryByRole("table")).toBeNull();
  });
});
