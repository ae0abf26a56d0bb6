import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { UndoFacts } from "./undo-facts";

const show = (undo: Parameters<typeof UndoFacts>[0]["undo"]) =>
  render(
    <MantineProvider env="test">
      <UndoFacts undo={undo} />
    </MantineProvider>,
  );

describe("what undo does", () => {
  it("tells the setting from the data", () => {
    show({ restores: "the settings go back", stays: ["Records that are deleted do not come back."] });
    expect(screen.getByRole("status").textContent).toBe(
      "It can be undone: the settings go back. Records that are deleted do not come back.",
    );
    expect(screen.getByRole("status").dataset.tone).toBe("warn");
  });

  it("is plain where all comes back", () => {
    show({ restores: "the rules are removed", stays: [] });
    expect(screen.getByRole("status").textContent).toBe("It can be undone: the rules are removed.");
    expect(screen.getByRole("status").dataset.tone).toBe("info");
  });

  it.each([null, undefined])("is left to the warnings where there is none (%o)", (undo) => {
    show(undo);
    expect(screen.queryByRole("status")).toBeNull();
  });
});
