import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { AclDiff } from "./acl-diff";
import { aclSentence } from "@/lib/acl-words";
import { FieldDiff, flatten } from "./field-diff";

const acl = {
  principal: "User:app",
  host: "*",
  operation: "READ",
  permission: "ALLOW",
  resource_type: "TOPIC",
  resource_name: "sales",
  pattern_type: "LITERAL",
};
const show = (before: unknown, after: unknown) =>
  render(
    <MantineProvider env="test">
      <FieldDiff before={before} after={after} />
    </MantineProvider>,
  );

describe("fields before and after", () => {
  it("become dotted names, rules become sentences, other things their JSON", () => {
    expect(flatten({ a: { b: 1, none: null }, list: [1, acl, { x: 1 }] })).toEqual({
      "a.b": "1",
      list: '1\nUser:app may read topic “sales”\n{"x":1}',
    });
    expect(flatten("text")).toEqual({ value: "text" });
    const any = { match: "any", name: "" };
    expect(flatten([{ role: "viewer", clusters: any, over: "group", names: any }])).toEqual({
      "": "Reads groups of every name, on every cluster, those to come too.",
    });
  });

  it("say in words where a new cluster's brokers will be, and how one gets in", async () => {
    const broker = { broker_id: 1, rack: "r1", address: "10.0.0.1", client_port: 9092 };
    const brokers = [{ ...broker, internal_port: 9093 }];
    show(null, { brokers, security_protocol: "SASL_SSL" });
    expect(await rowsOf("Changes")).toEqual([
      ["Brokers", "broker 1 in rack r1: clients at 10.0.0.1:9092, brokers at 10.0.0.1:9093"],
      ["Security protocol", "SASL_SSL"],
    ]);
  });

  it("are shown where they differ; the others are counted", async () => {
    show(
      { partitions: 6, configs: { "retention.ms": "1000" }, name: "sales" },
      { partitions: 12, configs: {}, name: "sales" },
    );
    expect(await rowsOf("Changes")).toEqual([
      ["Partitions", "6", "12"],
      ["retention.ms", "1000 ms (1 second)", "not set"],
    ]);
    expect(screen.getByText("1 unchanged")).toBeTruthy();
  });

  it("have one column where something is made or deleted, sizes in words", async () => {
    show({}, { configs: { "segment.bytes": "1048576", "cleanup.policy": "" }, records: 12345 });
    expect(await rowsOf("Changes")).toEqual([
      ["segment.bytes", "1048576 bytes (1 MiB)"],
      ["cleanup.policy", "none"],
      ["Records", "12,345"],
    ]);
    expect(screen.getByRole("columnheader", { name: "Value" })).toBeTruthy();
  });

  it("are none where nothing changes", () => {
    show({ a: 1 }, { a: 1 });
    expect(screen.queryByRole("table")).toBeNull();
  });
});

describe("rules", () => {
  it("are sentences", () => {
    expect(aclSentence({ ...acl, permission: "DENY", pattern_type: "PREFIXED", host: "10.0.0.9" })).toBe(
      "User:app may not read topic starting with “sales” from 10.0.0.9",
    );
  });

  it("say whether they come or go, in words too", () => {
    render(
      <MantineProvider env="test">
        <AclDiff bindings={[acl]} added={false} />
      </MantineProvider>,
    );
    expect(screen.getByLabelText("removed").textContent).toBe("−");
  });
});
