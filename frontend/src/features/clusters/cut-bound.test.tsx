import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { broker, cluster } from "@/testing/samples";
import { CutBound } from "./cut-bound";

describe("CutBound", () => {
  const several = cluster().brokers;

  it("says how long writes wait, exactly on hover", () => {
    render(<CutBound cluster={{ cut_bound_s: 10.875, brokers: several }} />);
    expect(screen.getByText(/cannot reach each other/)).not.toBeNull();
    expect(screen.getByText(/also when one of the two is the controller/)).not.toBeNull();
    expect(screen.getByText("11s").closest("[title]")?.getAttribute("title")).toContain("10.87");
  });

  it("says nothing of a cluster whose settings others choose, or of one broker", () => {
    render(<CutBound cluster={{ cut_bound_s: null, brokers: several }} />);
    render(<CutBound cluster={{ cut_bound_s: 10.875, brokers: [broker()] }} />);
    expect(screen.queryByText(/lose sight/)).toBeNull();
  });
});
