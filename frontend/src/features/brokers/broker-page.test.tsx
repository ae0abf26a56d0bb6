import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { figure, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { broker, operation, plan } from "@/testing/samples";
import { lineOf, throughput } from "@/testing/samples-throughput";
import { type Answers, ok, Refusal, unavailable } from "@/testing/server";

const detail = (more: object = {}) => ({
  ...broker({ id: 2 }),
  cluster_kind: "managed",
  may_change: true,
  is_controller: false,
  leaders: 8,
  replicas: 24,
  size_bytes: 4096,
  disk_total_bytes: 1024 ** 4,
  disk_usable_bytes: 1024 ** 4 / 4,
  ...more,
});
const placed = { leads: 8, follows: 16, out_of_sync: 0, offline: 0, preferred_elsewhere: 0, topics: 1, rows: [] };
const row = { topic: "sales", leads: 8, follows: 16, out_of_sync: 1, offline: 0, size_bytes: 2048 };
const setting = (name: string, value: string | null, more: object = {}) => ({
  name,
  value,
  source: "STATIC_BROKER_CONFIG",
  is_default: false,
  read_only: false,
  sensitive: false,
  doc: "",
  ...more,
});
const elected = {
  partitions: [{ topic: "sales", partition: 0, before: 1, after: 2 }],
  brokers: [{ id: 2, before_leaders: 0, after_leaders: 1 }],
  blocked: [],
  blocked_total: 0,
  left_out: 0,
};
const running = {
  state: "running",
  pid: 4711,
  restarts: 1,
  since_ms: 0,
  exit_code: -9,
  message: "",
  reported_at_ms: 0,
  version: "agent",
  software: "0.1.0",
  protocol: "3.9-IV0",
  digest: "a".repeat(64),
  ends: [{ at_ms: 0, exit_code: -9, message: "killed by signal 9", log_tail: ["<b>the last line</b>"] }],
  log_tail: [],
  log_hidden: null,
};
const base = {
  broker: ok(detail()),
  trouble: ok({ ...placed, topics: 0 }),
  process: ok(running),
  settings: ok([
    setting("log.retention.ms", "604800000"),
    setting("num.io.threads", "8", { source: "DEFAULT_CONFIG", is_default: true, read_only: true }),
    setting("ssl.key.password", null, { sensitive: true }),
  ]),
  operations: ok([operation({ kind: "broker.restart", resource: "broker/2" } as never)]),
};
const PLACEMENT = "GET /console/api/pages/placement/c1/2";
const placement = { parts: { partitions: ok({ ...placed, rows: [row] }) } };
const open = (search = "", parts: object = {}, more: Answers = {}) =>
  openPage(`/clusters/c1/brokers/2${search}`, {
    "GET /console/api/pages/broker/c1/2": { parts: { ...base, ...parts } },
    [PLACEMENT]: placement,
    ...more,
  });

describePageStates({
  path: "/clusters/c1/brokers/2",
  page: "broker/c1/2",
  title: "Broker 2",
  parts: base,
  part: "broker",
  shows: "Disk used",
  more: { [PLACEMENT]: placement },
});

describe("one broker", () => {
  it("has a setting of all brokers changed by a plan that says how it gets there", async () => {
    const changes = [
      { key: "log.retention.ms", way: "dynamic", before: null, after: "3600000", now: "604800000" },
      { key: "num.partitions", way: "static", before: "1", after: null, now: "1" },
    ];
    const diff = {
      changes,
      brokers: [{ id: 1, host: "h1", rack: "", leaders: 1, replicas: 2, is_controller: true, is_up: true }],
      canary_s: 60,
    };
    const { asked } = await open(
      "?tab=settings",
      {},
      { "POST /api/v1/plans": plan({ kind: "cluster.configure", diff } as never) },
    );
    fireEvent.click(await screen.findByRole("button", { name: "Change a setting of all brokers" }));
    fireEvent.click(await screen.findByRole("button", { name: "See the plan" }));
    expect(await screen.findByText("Name a setting.")).toBeTruthy();
    fireEvent.change(screen.getByRole("combobox", { name: "Setting" }), { target: { value: "log.retention.ms" } });
    fireEvent.change(screen.getByRole("textbox", { name: "Value" }), { target: { value: " 3600000 " } });
    press("See the plan");
    expect(await rowsOf("Settings of all brokers")).toEqual([
      ["log.retention.ms", "not set, so 604800000", "3600000", "at once, while brokers run"],
      ["num.partitions", "1", "not set", "when each broker is restarted"],
    ]);
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      kind: "cluster.configure",
      cluster_id: "c1",
      inputs: { config: { "log.retention.ms": "3600000" } },
    });
  });

  it("offers no change of settings to those who may not make it", async () => {
    await open("?tab=settings", { broker: ok(detail({ may_change: false })) });
    await screen.findByText("log.retention.ms");
    expect(screen.queryByRole("button", { name: "Change a setting of all brokers" })).toBeNull();
  });

  it("says what it leads, follows and holds, and how full its disk is", async () => {
    await open();
    await rowsOf("Topics on this broker");
    expect([figure("Leads"), figure("Follows"), figure("Out of sync"), figure("Data")]).toEqual([
      "8partitions",
      "16partitions",
      "0of its replicas",
      "4 KiB",
    ]);
    expect(figure("Disk used")).toBe("75 %256 GiB free of 1 TiB");
  });

  it("says of what it does not know that it does not", async () => {
    const silent = detail({ leaders: null, replicas: null, size_bytes: null, disk_total_bytes: null, alive: null });
    await open("", { broker: ok(silent), trouble: unavailable("late") });
    await rowsOf("Topics on this broker");
    expect([figure("Leads"), figure("Follows"), figure("Out of sync"), figure("Data"), figure("Disk used")]).toEqual([
      "–partitions",
      "–partitions",
      "–",
      "–",
      "unknownthe broker does not say",
    ]);
  });

  it("draws the throughput of what it leads, asked for by its id", async () => {
    const measured = throughput({ of: "broker", as_of: "2026-11-21T10:00:00Z", ts_ms: [0], series: [lineOf([4])] });
    const { asked } = await open("?range=6h", {}, { "GET /api/v1/clusters/c1/analytics/throughput": measured });
    expect((await screen.findByRole("img", { name: "Records a second over time" })).textContent).toBe("written: 4");
    const url = asked.find((one) => one.url.includes("/throughput"))?.url;
    expect(url).toBe("/api/v1/clusters/c1/analytics/throughput?of=broker&broker=2&range=6h&points=240");
  });

  it("lists its topics, those in trouble marked, with a link each", async () => {
    await open();
    expect(await rowsOf("Topics on this broker")).toEqual([["sales", "8", "16", "1", "0", "2 KiB"]]);
    expect(screen.getByRole("link", { name: "sales" }).getAttribute("href")).toBe("/clusters/c1/topics/sales");
  });

  it("says when partitions that it should lead have another leader, and when not all topics are shown", async () => {
    const more = { ...placed, rows: [row], topics: 500, preferred_elsewhere: 3 };
    await open("", {}, { [PLACEMENT]: { parts: { partitions: ok(more) } } });
    expect(await screen.findByText(/3 partitions it is preferred for\s+have another leader/)).toBeTruthy();
    expect(screen.getByText(/The first 1 are shown/)).toBeTruthy();
  });

  it("says that it holds nothing", async () => {
    await open("", {}, { [PLACEMENT]: { parts: { partitions: ok({ ...placed, topics: 0 }) } } });
    expect(await screen.findByText("It holds nothing")).toBeTruthy();
  });

  it("shows settings with their source, hides secrets, and searches them", async () => {
    const { router } = await open("?tab=settings");
    expect(await rowsOf("Settings")).toEqual([
      ["log.retention.ms", "604800000 7d", "the broker's file"],
      ["num.io.threads", "8", "defaultchanges with a restart"],
      ["ssl.key.password", "hidden", "the broker's file"],
    ]);
    fireEvent.change(screen.getByRole("searchbox"), { target: { value: "threads" } });
    await waitFor(async () => expect(await rowsOf("Settings")).toHaveLength(1));
    await waitFor(() => expect(router.state.location.search).toEqual({ tab: "settings", q: "threads" }));
    fireEvent.click(screen.getByRole("switch", { name: "Only what is not the default" }));
    expect(await screen.findByText("Nothing matches")).toBeTruthy();
  });

  it("says why the process ended, with its last lines as text", async () => {
    await open("?tab=process");
    expect(await screen.findByText("killed by signal 9")).toBeTruthy();
    const lines = screen.getByLabelText("Last lines before: killed by signal 9");
    expect(lines.textContent).toBe("<b>the last line</b>");
    expect(lines.querySelector("b")).toBeNull();
    expect(figure("State")).toBe("running");
  });

  it("says that lines are not for this reader, and that it has not ended", async () => {
    const hidden = "Lines of the log are shown to those who may change the cluster.";
    await open("?tab=process", { process: ok({ ...running, ends: [], log_tail: null, log_hidden: hidden }) });
    expect(await screen.findByText(hidden)).toBeTruthy();
    expect(screen.getByText("It has not ended by itself")).toBeTruthy();
  });

  it("shows the lines of one that does not run", async () => {
    const failed = { ...running, state: "failed", message: "port taken", log_tail: ["bind: in use"], ends: [] };
    await open("?tab=process", { process: ok(failed) });
    expect((await screen.findByLabelText("Last lines of the log")).textContent).toBe("bind: in use");
  });

  it("lists what was done to it", async () => {
    await open("?tab=operations");
    expect(await rowsOf("Operations")).toHaveLength(1);
  });

  it("is restarted by a plan", async () => {
    const { asked } = await open("", {}, { "POST /api/v1/plans": plan({ kind: "broker.restart" } as never) });
    await rowsOf("Topics on this broker");
    press("Restart broker");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "broker.restart",
        cluster_id: "c1",
        inputs: { broker: 2 },
      }),
    );
  });

  it("is let lead again what prefers it by a plan", async () => {
    const { asked } = await open(
      "",
      {},
      { "POST /api/v1/plans": plan({ kind: "leaders.elect", diff: elected } as never) },
    );
    await rowsOf("Topics on this broker");
    press("Let it lead what prefers it");
    await waitFor(() =>
      expect(asked.find((one) => one.method === "POST")?.body).toEqual({
        kind: "leaders.elect",
        cluster_id: "c1",
        inputs: { broker: 2 },
      }),
    );
    expect(await rowsOf("Leaders by broker")).toEqual([["2", "0", "1"]]);
  });

  it.each([{ alive: false }, { may_change: false }])(
    "offers no election that could only be refused (%#)",
    async (fields) => {
      await open("", { broker: ok(detail(fields)) });
      await rowsOf("Topics on this broker");
      expect(screen.queryByRole("button", { name: "Let it lead what prefers it" })).toBeNull();
    },
  );

  it.each([{ cluster_kind: "registered", managed: false }, { managed: false }, { may_change: false }])(
    "offers no restart that could only be refused (%#)",
    async (fields) => {
      await open("", { broker: ok(detail(fields)) });
      await rowsOf("Topics on this broker");
      expect(screen.queryByRole("button", { name: "Restart broker" })).toBeNull();
    },
  );

  it("leads back to the cluster's brokers", async () => {
    await open();
    await rowsOf("Topics on this broker");
    const crumbs = within(screen.getByRole("navigation", { name: "Breadcrumb" }));
    expect(crumbs.getByRole("link", { name: "Brokers" }).getAttribute("href")).toBe("/clusters/c1");
  });

  it("says what of the placement failed and keeps the rest", async () => {
    await open("", {}, { [PLACEMENT]: new Refusal(500, "The request cannot be served", "It failed.") });
    expect(await screen.findByText("It failed.")).toBeTruthy();
    expect(figure("Leads")).toBe("8partitions");
  });
});
