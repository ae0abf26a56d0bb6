import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, hintedBy, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { broker, cluster, operation, plan, session, timelineEvent, versions } from "@/testing/samples";
import { type Answers, ok, stale, unavailable } from "@/testing/server";

const summary = { topics: 4, partitions: 24, under_replicated: 0, offline: 0, size_bytes: 4096 };
const load = { id: 1, leaders: 8, replicas: 24, size_bytes: 2048 };
const move = {
  topic: "sales",
  partition: 0,
  replicas: [1, 2, 4],
  adding: [4],
  removing: [3],
  bytes_moved: 1024,
  bytes_to_move: 4096,
};
const moving = (...rows: object[]) => ({ total: rows.length, rows, unknown: [] });
const base = {
  cluster: ok(cluster()),
  attention: ok([]),
  summary: ok(summary),
  loads: ok([load]),
  versions: ok(versions()),
  reassignments: ok(moving()),
  operations: ok([operation()]),
  events: ok([timelineEvent()]),
  client_config: ok({
    values: {},
    mechanisms: ["SCRAM-SHA-512"],
    properties: "bootstrap.servers=10.0.0.1:9092",
    java: "security.protocol=SASL_PLAINTEXT",
    python: "import kafka",
    snippets: [
      {
        language: "librdkafka" as const,
        title: "librdkafka",
        file: "client.properties",
        install: "",
        run: "",
        text: "bootstrap.servers=10.0.0.1:9092",
      },
    ],
    ca_pem: null,
  }),
};
const open = (parts: object = {}, more: Answers = {}) =>
  openPage("/clusters/c1", { "GET /console/api/pages/cluster/c1": { parts: { ...base, ...parts } }, ...more });

describePageStates({
  path: "/clusters/c1",
  page: "cluster/c1",
  title: "orders",
  parts: base,
  part: "client_config",
  shows: "bootstrap.servers=10.0.0.1:9092",
});

describe("one cluster", () => {
  it("shows each broker with its load, and which of them is the controller", async () => {
    const brokers = [
      broker(),
      broker({ id: 2, alive: false, observed_state: "backoff", pid: null, restarts: 3 }),
      broker({ id: 3, alive: false, observed_state: "exited", rack: null, host: "" }),
      broker({
        id: 4,
        drift: [
          {
            field: "rack",
            desired: "a",
            observed: "b",
            text: "of the service",
            text_code: "broker/shown",
            params: { broker: 4, field: "rack", observed: "b", desired: "a" },
          },
        ],
      }),
      broker({ id: 5, drift: null }),
    ];
    await open({ cluster: ok(cluster({ brokers })) });
    expect(await rowsOf("Brokers")).toEqual([
      ["1controller", "Alive", "a", "10.0.0.1:9092", "8", "24", "2 KiB", "–", "0", "4711", ""],
      ["2", "backoff", "a", "10.0.0.1:9092", "–", "–", "–", "–", "3", "–", ""],
      ["3", "Down (exited)", "–", "–", "–", "–", "–", "–", "0", "4711", ""],
      ["4", "Not as placed", "a", "10.0.0.1:9092", "–", "–", "–", "–", "0", "4711", ""],
      ["5", "Alive", "a", "10.0.0.1:9092", "–", "–", "–", "–", "0", "4711", ""],
    ]);
    expect(figure("Brokers alive")).toBe("3 of 5");
    fireEvent.pointerEnter(hintedBy("Not as placed"));
    expect(await screen.findByText("Broker 4 shows the rack b to clients; it was placed with a.")).toBeTruthy();
  });

  it.each([
    [summary, "0all in sync"],
    [{ ...summary, offline: 1, under_replicated: 2 }, "31 offline, 2 under-replicated"],
  ])("says how its partitions are (%#)", async (found, text) => {
    await open({ summary: ok(found) });
    await rowsOf("Brokers");
    expect(figure("Partitions in trouble")).toBe(text);
  });

  it("says nothing of topics that it does not know", async () => {
    await open({ summary: unavailable("late"), cluster: ok(cluster({ controller_id: null })) });
    await rowsOf("Brokers");
    expect([figure("Topics"), figure("Partitions in trouble"), figure("Data on disk"), figure("Controller")]).toEqual([
      "–",
      "–",
      "–all replicas",
      "none",
    ]);
  });

  it("says that nobody knows, and why, while the brokers do not answer", async () => {
    const because = "not-answering: This cluster has not answered since 10:00. It is asked again in 8 s.";
    const silent = cluster({ kind: "registered", brokers: [], controller_id: null, unknown_because: because });
    await open({ summary: unavailable("late"), cluster: ok(silent) });
    await screen.findByText(because);
    expect(figure("Brokers alive")).toBe(`unknown${because}`);
    expect(figure("Controller")).toBe("unknown");
  });

  it("shows what is on the move", async () => {
    await open({ reassignments: ok({ ...moving(move), total: 100_000 }) });
    await rowsOf("Brokers");
    expect(screen.getByRole("table", { name: "Partitions on the move" }).textContent).toBe(
      "sales-0124leaves 31 KiB of 4 KiB",
    );
    expect(screen.getByRole("heading", { name: "Partitions on the move: 100,000" })).toBeTruthy();
  });

  it("says since when what moves is known, while the brokers do not say", async () => {
    await open({ reassignments: stale(moving(move), "The cluster did not answer in time.") });
    await rowsOf("Brokers");
    expect(screen.getByRole("table", { name: "Partitions on the move" })).toBeTruthy();
    expect(screen.getByText(/The cluster did not answer in time\./)).toBeTruthy();
  });

  it("says how to connect in each language", async () => {
    await open();
    await rowsOf("Brokers");
    expect(screen.getByLabelText("Client properties").textContent).toBe("bootstrap.servers=10.0.0.1:9092");
    fireEvent.click(screen.getByRole("tab", { name: "Java properties" }));
    expect((await screen.findByLabelText("Java client properties")).textContent).toBe(
      "security.protocol=SASL_PLAINTEXT",
    );
    expect(screen.queryByRole("tab", { name: "CA" })).toBeNull();
  });

  it("gives the certificate that clients of a cluster with TLS have to trust", async () => {
    const ca_pem = "-----BEGIN CERTIFICATE-----\nMIIB+A==\n-----END CERTIFICATE-----\n";
    const java = "ssl.truststore.location=ca.pem";
    await open({
      client_config: ok({
        values: {},
        mechanisms: ["SCRAM-SHA-512"],
        properties: "",
        java,
        python: "",
        snippets: [],
        ca_pem,
      }),
    });
    await rowsOf("Brokers");
    const link = screen.getByRole("link", { name: "ca.pem" });
    expect(link.getAttribute("download")).toBe("ca.pem");
    expect(decodeURIComponent(link.getAttribute("href") ?? "")).toBe(
      `data:application/x-pem-file;charset=utf-8,${ca_pem}`,
    );
    fireEvent.click(screen.getByRole("tab", { name: "Java properties" }));
    expect((await screen.findByLabelText("Java client properties")).textContent).toBe(java);
    fireEvent.click(screen.getByRole("tab", { name: "CA" }));
    expect((await screen.findByLabelText("Certificate of the cluster's authority")).textContent).toBe(ca_pem);
  });

  it.each([
    ["managed", "Delete cluster"],
    ["registered", "Forget cluster"],
  ] as const)("that is %s can be given up by a plan", async (kind, item) => {
    const { asked } = await open(
      { cluster: ok(cluster({ kind })) },
      { "POST /api/v1/plans": plan({ kind: "cluster.delete" } as never) },
    );
    await rowsOf("Brokers");
    press("More");
    fireEvent.click(await screen.findByRole("menuitem", { name: item }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "cluster.delete",
        cluster_id: "c1",
        inputs: {},
      }),
    );
  });

  it("has a broker restarted by a plan", async () => {
    const { asked } = await open({}, { "POST /api/v1/plans": plan({ kind: "broker.restart" } as never) });
    await rowsOf("Brokers");
    press("Actions for broker 1");
    fireEvent.click(await screen.findByRole("menuitem", { name: "Restart broker" }));
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "broker.restart",
        cluster_id: "c1",
        inputs: { broker: 1 },
      }),
    );
  });

  it("has all brokers restarted by a plan that shows the order", async () => {
    const rolled = { rack: "r1", leaders: 4, replicas: 12, is_controller: false, is_up: true };
    const diff = {
      brokers: [
        { ...rolled, id: 2, host: "host-2", is_up: false },
        { ...rolled, id: 1, host: "host-1", is_controller: true },
      ],
      canary_s: 60,
    };
    const { asked } = await open({}, { "POST /api/v1/plans": plan({ kind: "cluster.restart", diff } as never) });
    await rowsOf("Brokers");
    press("Restart all, one after the other");
    expect(await rowsOf("Order of the restart")).toEqual([
      ["1", "2 not up", "host-2 (r1)", "4", "12"],
      ["2", "1 controller", "host-1 (r1)", "4", "12"],
    ]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.restart",
      cluster_id: "c1",
      inputs: {},
    });
  });

  it("restarts no broker that somebody else runs", async () => {
    await open({ cluster: ok(cluster({ kind: "registered" })) });
    await rowsOf("Brokers");
    expect(screen.queryByRole("button", { name: "Restart all, one after the other" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Actions for broker 1" })).toBeNull();
  });

  it("offers a viewer no change", async () => {
    await open({}, { "GET /console/api/session": session({ can_write: false }) });
    await rowsOf("Brokers");
    expect(screen.queryByRole("button", { name: "More" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Restart all, one after the other" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Actions for broker 1" })).toBeNull();
  });
});
