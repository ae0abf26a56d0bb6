import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import type { ConfigDiffData } from "@/lib/types";
import { ConfigDiff } from "./config-diff";

const show = (diff: Partial<ConfigDiffData>, past = false) =>
  render(
    <MantineProvider env="test">
      <ConfigDiff diff={{ before: {}, after: {}, effective_before: {}, effective_after: {}, ...diff }} past={past} />
    </MantineProvider>,
  );

describe("settings before and after", () => {
  it("show the default that held, with units and words", async () => {
    show({
      before: { configs: { "retention.ms": null } },
      after: { configs: { "retention.ms": "3600000" } },
      effective_before: { "retention.ms": "604800000" },
      effective_after: { "retention.ms": "3600000" },
    });
    expect(await rowsOf("Changes")).toEqual([
      ["retention.ms", "604800000 ms (7 days, default)", "3600000 ms (1 hour)"],
    ]);
  });

  it("show the default that holds afterwards, known or not", async () => {
    show({
      before: { configs: { "cleanup.policy": "compact", "segment.bytes": "1048576" } },
      after: { configs: { "cleanup.policy": null, "segment.bytes": null } },
      effective_before: { "cleanup.policy": "compact", "segment.bytes": "1048576" },
      effective_after: { "cleanup.policy": "delete", "segment.bytes": null },
    });
    expect(await rowsOf("Changes")).toEqual([
      ["cleanup.policy", "compact", "delete (default)"],
      ["segment.bytes", "1048576 bytes (1 MiB)", "the default, which the brokers do not report"],
    ]);
  });

  it("speak of the past where it was confirmed", () => {
    show({ before: { configs: { a: "1" } }, after: { configs: { a: "2" } } }, true);
    expect(screen.getAllByRole("columnheader").map((head) => head.textContent)).toEqual(["Setting", "Before", "After"]);
  });
});
