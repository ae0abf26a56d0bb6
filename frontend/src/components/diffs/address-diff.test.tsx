import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { AddressDiff } from "./address-diff";

const broker = {
  ...{ id: 2, host: "10.0.0.1", rack: "a", leaders: 3, replicas: 6, is_controller: false, is_up: true },
  ...{ from_address: "10.0.0.1", to_address: "10.0.0.9", renews_certificate: true },
};
const show = (change: object = {}) =>
  render(
    <MantineProvider env="test">
      <AddressDiff
        diff={{
          brokers: [broker],
          bootstrap_before: "10.0.0.1:9092",
          bootstrap_after: "10.0.0.9:9092",
          canary_s: 60,
          ...change,
        }}
      />
    </MantineProvider>,
  );

describe("brokers that follow their host's address", () => {
  it("shows each one's address, whether it gets a certificate, and what clients are given", async () => {
    show();
    expect(await rowsOf("Address of each broker")).toEqual([
      ["2", "10.0.0.1", "10.0.0.9 (new certificate)"],
      ["Clients that begin anew", "10.0.0.1:9092", "10.0.0.9:9092"],
    ]);
    expect((await rowsOf("Order of the restart")).length).toBe(1);
  });

  it("says nothing of clients where nothing changes for them", async () => {
    show({ bootstrap_after: "10.0.0.1:9092", brokers: [{ ...broker, renews_certificate: false }] });
    expect(await rowsOf("Address of each broker")).toEqual([["2", "10.0.0.1", "10.0.0.9"]]);
  });
});
