import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { BrokerDirectories } from "@/lib/types";
import { openPage, press, rowsOf } from "@/testing/app";
import { broker, plan } from "@/testing/samples";
import { brokerDirectories, directory, failedDirectory } from "@/testing/samples-directories";
import { type Answers, ok, PENDING, unavailable } from "@/testing/server";

const PAGE = "GET /console/api/pages/directories/c1/2";
const away = unavailable("not of this test");
const fast = directory({ name: "fast", path: "/mnt/fast/c1-2/data", arriving: 2, can_be_removed: true });
const broken = failedDirectory();
const found = (more: Partial<BrokerDirectories> = {}) => brokerDirectories({ rows: [directory(), fast], ...more });

const open = (directories: unknown, { mayChange = true, more = {} }: { mayChange?: boolean; more?: Answers } = {}) =>
  openPage("/clusters/c1/brokers/2?tab=directories", {
    "GET /console/api/pages/broker/c1/2": {
      parts: {
        broker: ok({
          ...broker({ id: 2 }),
          managed: true,
          cluster_kind: "managed",
          may_change: mayChange,
          is_controller: false,
          leaders: 8,
          replicas: 24,
          size_bytes: 4096,
          disk_total_bytes: null,
          disk_usable_bytes: null,
        }),
        trouble: away,
        process: away,
        settings: away,
        operations: away,
      },
    },
    [PAGE]: directories,
    ...more,
  });
const shown = (data: object) => ({ parts: { directories: ok(data) } });
const rolled = { id: 2, host: "h2", rack: "", leaders: 1, replicas: 2, is_controller: false, is_up: true };

describe("a broker's directories", () => {
  it("says of each how it is, what is free and what lies there", async () => {
    await open(shown(found()));
    expect(await rowsOf("Directories")).toEqual([
      ["main/srv/c1-2/data", "works", "256 GiB of 1 TiB", "12", "4 KiB", "Empty it"],
      ["fast/mnt/fast/c1-2/data", "works", "256 GiB of 1 TiB", "122 arriving", "4 KiB", "Empty itEmpty and take away"],
    ]);
    expect(screen.getByText("Its host has no other directory. Operators add disks to hosts.")).toBeTruthy();
  });

  it("plans to empty one and take it away, and says where its replicas go", async () => {
    const diff = {
      directory: "fast",
      remove: true,
      bytes_per_s: 50 * 1024 ** 2,
      canary_s: 60,
      brokers: [
        {
          ...rolled,
          log_dirs: { before: ["main", "fast"], after: ["main"] },
          state: "working",
          leaving: 3,
          leaving_bytes: 4096,
          moves: [{ directory: "main", replicas: 3, size_bytes: 4096 }],
        },
      ],
    };
    const answer = plan({ kind: "cluster.empty_log_directory", diff } as never);
    const { asked } = await open(shown(found()), { more: { "POST /api/v1/plans": answer } });
    await rowsOf("Directories");
    press("Empty and take away: fast");
    expect(await rowsOf("Directories of each broker")).toEqual([
      ["2", "3 replicas 4 KiB", "main: 3 replicas", "main, fast", "main"],
    ]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.empty_log_directory",
      cluster_id: "c1",
      inputs: { directory: "fast", brokers: [2], remove: true },
    });
  });

  it("plans to add one that its host has, and none that cannot be used", async () => {
    const further = [
      { name: "bulk", total_bytes: 1024 ** 4, free_bytes: 1024 ** 3, problem: null },
      { name: "slow", total_bytes: null, free_bytes: null, problem: "Its disk is not mounted." },
    ];
    const diff = {
      directory: "bulk",
      canary_s: 60,
      brokers: [
        { ...rolled, log_dirs: { before: ["main"], after: ["main", "bulk"] }, total_bytes: null, free_bytes: null },
      ],
    };
    const answer = plan({ kind: "cluster.add_log_directory", diff } as never);
    const { asked } = await open(shown(found({ further })), { more: { "POST /api/v1/plans": answer } });
    await rowsOf("Directories");
    expect(screen.queryByRole("button", { name: "Add to this broker: slow" })).toBeNull();
    press("Add to this broker: bulk");
    expect(await rowsOf("Directories of each broker")).toEqual([["2", "main", "main, bulk", "not known"]]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.add_log_directory",
      cluster_id: "c1",
      inputs: { directory: "bulk", brokers: [2] },
    });
  });

  it("says that one has failed, with the way out, and shows its agent's words as text", async () => {
    await open(shown(found({ rows: [directory(), broken], lost_replicas: 3 })));
    expect((await screen.findByRole("alert")).textContent).toMatch(/3 replicas of this broker cannot be used/);
    const [, row] = await rowsOf("Directories");
    expect(row?.slice(1)).toEqual([
      "failedKAFKA_STORAGE_ERROR<b>It cannot be read.</b>",
      "not said",
      "–",
      "–",
      "Take away",
    ]);
  });

  it("warns before the only copy of something would go", async () => {
    await open(shown(found({ rows: [directory(), broken], lost_replicas: 3, only_here: 1 })));
    expect((await screen.findByRole("alert")).textContent).toMatch(/Of 1 partition nobody else has a replica in sync/);
  });

  it("offers nothing to those who may change nothing", async () => {
    const further = [{ name: "bulk", total_bytes: 1, free_bytes: 1, problem: null }];
    await open(shown(found({ further })), { mayChange: false });
    await rowsOf("Directories");
    expect(screen.queryByRole("button", { name: /Empty|Add to/ })).toBeNull();
  });

  it("says that nobody knows what its host has", async () => {
    await open(shown(found({ further_unknown: "The agent of its host is away." })));
    expect(await screen.findByText(/is not known: The agent of its host is away\./)).toBeTruthy();
  });

  it("of a Kafka that runs elsewhere shows what its brokers say, and what to do", async () => {
    const rows = [
      directory({ name: "/k/a", path: "/k/a", can_be_emptied: false }),
      { ...broken, can_be_removed: false },
    ];
    await open(shown(found({ rows, managed: false, lost_replicas: 1 })));
    expect((await screen.findByRole("alert")).textContent).toMatch(/not run by this service/);
    expect(screen.queryByText("On its host, not used by this broker")).toBeNull();
  });

  it("shows placeholders, and the reason when the broker does not answer", async () => {
    await open(PENDING);
    expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
  });

  it("says why there is nothing", async () => {
    await open({ parts: { directories: unavailable("Broker 2 does not answer.") } });
    expect(await screen.findByText(/Broker 2 does not answer\./)).toBeTruthy();
  });
});
