import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { GroupDiff } from "./group-diff";

const show = (lag: number | null) =>
  render(
    <MantineProvider env="test">
      <GroupDiff diff={{ before: { state: "Empty", members: 0, lag }, after: null, offsets: [] }} />
    </MantineProvider>,
  );

describe("a group that is deleted", () => {
  it.each([
    [0, "0"],
    [1234, "1,234"],
    [null, "not known"],
  ])("with %o unread records shows %s", (lag, text) => {
    show(lag);
    expect(screen.getByText("Lag").nextElementSibling?.textContent).toBe(text);
  });
});
