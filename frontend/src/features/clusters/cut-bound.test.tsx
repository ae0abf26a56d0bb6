import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { cluster } from "@/testing/samples";
import { CutBound } from "./cut-bound";

describe("CutBound", () => {
  const [broker] = cluster().brokers;
  const brokers = [broker!, broker!];

  it("says how long writes wait, exactly on hover", () => {
    render(<CutBound cluster={{ cut_bound_s: 11.25, brokers }} />);
    expect(screen.getByTitle("11.25 s: 1.5 times replica.lag.time.max.ms").textContent).toBe("12s");
  });

  it("says nothing of a cluster whose settings others choose, or of one broker", () => {
    render(<CutBound cluster={{ cut_bound_s: null, brokers }} />);
    render(<CutBound cluster={{ cut_bound_s: 11.25, brokers: [broker!] }} />);
    expect(screen.queryByText(/lose sight/)).toBeNull();
  });
});
