import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { rowsOf } from "@/testing/app";
import { ZooKeeperDiff } from "./zookeeper-diff";

const broker = { id: 2, host: "10.0.0.1", rack: "a", leaders: 3, replicas: 6, is_controller: false, is_up: true };

describe("brokers that go over to another connect string", () => {
  it("shows that the ensemble stays, how many strings there are, and the order", async () => {
    render(
      <MantineProvider env="test">
        <ZooKeeperDiff diff={{ brokers: [broker], ensemble: "0c6b1c9a@7", strings_before: 2, canary_s: 60 }} />
      </MantineProvider>,
    );
    const table = document.querySelector('[aria-label="ZooKeeper"]');
    expect(table?.textContent).toContain("0c6b1c9a@7");
    expect(table?.textContent).toContain("stays the same");
    expect(table?.textContent).toContain("2 connect strings become one");
    expect((await rowsOf("Order of the restart")).length).toBe(1);
  });
});
