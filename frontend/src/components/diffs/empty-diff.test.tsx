import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, rowsOf } from "@/testing/app";
import { EmptyDiff } from "./empty-diff";

const row = (partition: number, log_start: number, until: number) => ({
  topic: "sales",
  partition,
  log_start,
  until,
  records: until - log_start,
});

describe("a topic that is emptied", () => {
  it.each([
    [2048, "2 KiBleaders' copies"],
    [null, "not knownleaders' copies"],
  ])("shows what goes in all and by partition; bytes of %s are %s", async (bytes, text) => {
    render(
      <MantineProvider env="test">
        <EmptyDiff
          diff={{
            before: { records: 1200, bytes },
            after: { records: 0, bytes: 0 },
            partitions: [row(0, 300, 1500), row(1, 7, 7)],
          }}
        />
      </MantineProvider>,
    );
    expect(figure("Records deleted")).toBe("1,200");
    expect(figure("Data deleted, at most")).toBe(text);
    expect(figure("Partitions")).toBe("1");
    expect(await rowsOf("Where the logs begin")).toEqual([
      ["sales-0", "300", "1,500", "1,200"],
      ["sales-1", "7", "7", "none"],
    ]);
  });
});
