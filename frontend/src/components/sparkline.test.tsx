import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { runsOf, Sparkline } from "./sparkline";

const show = (values: (number | null)[], name = "orders") =>
  render(
    <MantineProvider env="test">
      <Sparkline name={name} values={values} />
    </MantineProvider>,
  ).container;

describe("a small line beside a name", () => {
  it("says what it shows to those who do not see it", () => {
    show([0, 2, null, 1.5]);
    expect(screen.getByRole("img", { name: "orders: 0/s to 2/s in the last hour" })).toBeTruthy();
  });

  it("draws no line over a gap, and a dot where a point is alone", () => {
    const box = show([1, 2, null, 3, null, null, 4, 5]);
    expect(box.querySelectorAll("path")).toHaveLength(2);
    expect(box.querySelectorAll("circle")).toHaveLength(1);
  });

  it("is a dash where nothing is known, not a line at zero", () => {
    const box = show([null, null]);
    expect(box.querySelector("svg")).toBeNull();
    expect(box.textContent).toContain("–");
  });

  it("takes a hostile name as text", () => {
    show([1], "<img src=x onerror=alert(1)>");
    expect(screen.getByRole("img").querySelector("img")).toBeNull();
  });
});

describe("runs of known values", () => {
  it("reach from margin to margin, the highest at the top", () => {
    expect(runsOf([0, 4], 100, 20)).toEqual([
      [
        [1.5, 18.5],
        [98.5, 1.5],
      ],
    ]);
  });

  it("lie at the bottom where all is nothing", () => {
    expect(runsOf([0, 0], 100, 20)[0]?.map(([, y]) => y)).toEqual([18.5, 18.5]);
  });

  it.each([[[]], [[null]]])("are none of nothing", (values) => {
    expect(runsOf(values, 100, 20)).toEqual([]);
  });
});
