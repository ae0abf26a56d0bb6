import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { whole } from "@/testing/app";
import type { LagPoint } from "@/lib/types";
import { TimeLag } from "./time-lag";

const point = (over: Partial<LagPoint>) =>
  ({
    group: "g",
    topic: "t",
    ts: "2026-11-21T10:00:00Z",
    lag_seconds: null,
    lag_seconds_at_least: null,
    ...over,
  }) as LagPoint;

function show(points: LagPoint[], firstVerdictAt: string | null) {
  render(
    <MantineProvider env="test">
      <TimeLag group="g" points={points} firstVerdictAt={firstVerdictAt} />
    </MantineProvider>,
  );
}

describe("time lag", () => {
  it("says when the first verdict is due instead of showing an empty frame", () => {
    const due = new Date(Date.now() + 150_000);
    show([point({}), point({ topic: "u" })], due.toISOString());
    expect(screen.getByText("No time is known yet")).toBeTruthy();
    expect(document.body.textContent).toContain("The first run that can judge the group: in 2m.");
    expect(document.querySelector("time")?.dateTime).toBe(due.toISOString());
  });

  it("gives the bound that is known, and no date once groups have been judged", () => {
    show([point({ lag_seconds_at_least: 60 }), point({ ts: "2026-11-21T10:01:00Z", lag_seconds_at_least: 120 })], null);
    expect(screen.getByText(whole("At least 2m"))).toBeTruthy();
    expect(document.body.textContent).not.toContain("first run");
  });

  it("gives way to the chart as soon as one time is known", () => {
    show([point({ lag_seconds_at_least: 60 }), point({ topic: "u", lag_seconds: 3 })], new Date().toISOString());
    expect(document.body.textContent).not.toMatch(/At least|No time|first run/);
  });
});
