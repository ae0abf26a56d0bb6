import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { describePageStates } from "@/testing/page-states";
import { broker, cluster, listed, operation, partition, plan, topic, topicCounts, topicRow } from "@/testing/samples";
import { type Answers, type Asked, ok } from "@/testing/server";

const PATH = "/clusters/c1/reassign";
const load = (id: number) => ({ id, leaders: 1, replicas: 2, size_bytes: id === 3 ? null : 1024 * id });
const base = {
  cluster: ok(cluster({ brokers: [1, 2, 3].map((id) => broker({ id, alive: id !== 3 })) })),
  counts: ok(topicCounts({ replication_factor_max: 3 })),
  loads: ok([1, 2, 3].map(load)),
  reassignments: ok({ total: 0, rows: [], unknown: [] }),
};
const moved = plan({
  kind: "reassignment",
  confirm_phrase: null,
  diff: {
    partitions: [{ topic: "sales", partition: 0, before: [1, 2], after: [2, 3], bytes: 2048, size_bytes: 2048 }],
    brokers: [
      {
        id: 3,
        before_bytes: 0,
        after_bytes: 2048,
        before_replicas: 0,
        after_replicas: 1,
        before_leaders: 0,
        after_leaders: 1,
        before_rack_violations: 2,
        after_rack_violations: 0,
      },
    ],
    balance: { basis: "bytes", bytes_tolerance: 0.05, replicas_tolerance: 0.1, leaders_tolerance: 0.05 },
    limits: [{ code: "bytes", broker: 3, text: "one partition is larger than its share" }],
  },
} as never);
const open = (search = "", parts: object = {}, more: Answers = {}) =>
  openPage(PATH + search, {
    "GET /console/api/pages/reassign/c1": { parts: { ...base, ...parts } },
    "GET /console/api/pages/topic/c1/sales": {
      parts: {
        topic: ok(topic({ partitions: [partition({ replicas: [1, 2] })] })),
        retention: ok({ as_of: null, run_id: null, data: [] }),
      },
    },
    "GET /api/v1/clusters/c1/topics": ({ url }: Asked) =>
      listed([topicRow(), topicRow({ name: "wide" })].filter((row) => row.name.includes(searched(url)))),
    "GET /api/v1/clusters/c1/topics/sales": topic({ partitions: [partition({ replicas: [1, 2, 3] })] }),
    "POST /api/v1/plans": moved,
    ...more,
  });
const searched = (url: string) => new URLSearchParams(url.split("?")[1]).get("q") ?? "";
const posted = (asked: { method: string; body: unknown }[]) => asked.find((one) => one.method === "POST")?.body;
const review = () => screen.getByRole("button", { name: "Review plan" }) as HTMLButtonElement;

describePageStates({
  path: PATH,
  page: "reassign/c1",
  title: "Reassign partitions",
  parts: base,
  part: "loads",
  shows: "Leads",
});

const choose = async (mode: string) => {
  fireEvent.click(screen.getByLabelText("What to do", { selector: "input" }));
  fireEvent.click(await screen.findByRole("option", { name: mode }));
};

describe("moving partitions", () => {
  it("changes the replication factor of topics, to no more than there are live brokers", async () => {
    const { asked } = await open("?topic=sales");
    await rowsOf("Load of the brokers");
    await choose("Change the replication factor");
    expect(screen.getByText("From 1 to 2: 2 brokers alive")).toBeTruthy();
    expect(review().disabled).toBe(true);
    fill(/^Replication factor/, "2");
    fireEvent.click(screen.getByLabelText("No limit"));
    press("Review plan");
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "reassignment",
        cluster_id: "c1",
        inputs: { topics: ["sales"], replication_factor: 2 },
      }),
    );
  });

  it("drains a broker, also one that is down", async () => {
    const { asked } = await open();
    await rowsOf("Load of the brokers");
    await choose("Drain a broker");
    expect(review().disabled).toBe(true);
    expect(screen.queryByLabelText("All topics")).toBeNull();
    fireEvent.click(screen.getByLabelText("Broker to empty", { selector: "input" }));
    fireEvent.click(await screen.findByRole("option", { name: "3 (rack a), down" }));
    fireEvent.click(screen.getByLabelText("No limit"));
    press("Review plan");
    await waitFor(() =>
      expect(posted(asked)).toEqual({ kind: "reassignment", cluster_id: "c1", inputs: { drain_broker: 3 } }),
    );
  });

  it("spreads the chosen topics over the chosen brokers, below a limit", async () => {
    const { asked } = await open("?topic=sales");
    expect(await rowsOf("Load of the brokers")).toEqual([
      ["1", "1", "2", "1 KiB"],
      ["2", "1", "2", "2 KiB"],
      ["3", "1", "2", "–"],
    ]);
    expect(review().disabled).toBe(false);
    fireEvent.click(screen.getByLabelText("3 (rack a), down"));
    expect(await screen.findByText("The chosen topics keep 3 copies: choose at least as many brokers.")).toBeTruthy();
    expect(review().disabled).toBe(true);
    fireEvent.click(screen.getByLabelText("3 (rack a), down"));
    fill(/At most/, "2");
    press("Review plan");
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "reassignment",
        cluster_id: "c1",
        inputs: { topics: ["sales"], target_brokers: [1, 2, 3], throttle_bytes_per_s: 2 * 1024 * 1024 },
      }),
    );
  });

  it("finds topics on the server by a part of the name", async () => {
    const { asked } = await open();
    await rowsOf("Load of the brokers");
    const field = screen.getByPlaceholderText("Choose topics");
    fireEvent.click(field);
    expect(await screen.findByRole("option", { name: "sales" })).toBeTruthy();
    fireEvent.change(field, { target: { value: "wi" } });
    await waitFor(() => expect(screen.queryByRole("option", { name: "sales" })).toBeNull());
    fireEvent.click(screen.getByRole("option", { name: "wide" }));
    expect(asked.some(({ url }) => url === "/api/v1/clusters/c1/topics?q=wi&page_size=20")).toBe(true);
    await waitFor(() => expect(review().disabled).toBe(false));
  });

  it("cannot be planned before a topic is chosen", async () => {
    await open();
    await rowsOf("Load of the brokers");
    expect(review().disabled).toBe(true);
  });

  it("spreads all topics when asked to, and then needs none chosen", async () => {
    const { asked } = await open();
    await rowsOf("Load of the brokers");
    fireEvent.click(screen.getByLabelText("All topics"));
    fireEvent.click(screen.getByLabelText("No limit"));
    press("Review plan");
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "reassignment",
        cluster_id: "c1",
        inputs: { all_topics: true, target_brokers: [1, 2, 3] },
      }),
    );
  });

  it("leaves a broker as it is when asked to, unless it is a target again", async () => {
    const { asked } = await open("?topic=sales");
    await rowsOf("Load of the brokers");
    const target = screen.getByLabelText("2 (rack a)");
    expect(screen.queryByLabelText("Leave 2")).toBeNull();
    fireEvent.click(target);
    // Emptied, it leaves two brokers for three copies; left as it is, it keeps its own.
    await waitFor(() => expect(review().disabled).toBe(true));
    fireEvent.click(screen.getByLabelText("Leave 2"));
    expect(review().disabled).toBe(false);
    fireEvent.click(screen.getByLabelText("No limit"));
    const plans = () => asked.filter((one) => one.method === "POST").map((one) => one.body);
    press("Review plan");
    await waitFor(() =>
      expect(plans()).toEqual([
        {
          kind: "reassignment",
          cluster_id: "c1",
          inputs: { topics: ["sales"], target_brokers: [1, 3], excluded_brokers: [2] },
        },
      ]),
    );
    await rowsOf("Partition moves");
    press(/Choose/);
    fireEvent.click(await screen.findByLabelText("2 (rack a)"));
    press("Review plan");
    await waitFor(() => expect(plans()).toHaveLength(2));
    expect(plans()[1]).toMatchObject({ inputs: { target_brokers: [1, 3, 2] } });
    expect(plans()[1]).not.toHaveProperty("inputs.excluded_brokers");
  });

  it("takes exact replicas, and only brokers that are there, each once", async () => {
    const { asked } = await open("?topic=sales");
    await rowsOf("Load of the brokers");
    await choose("Exact replicas");
    await screen.findByRole("table", { name: "Replicas per partition" });
    expect(review().disabled).toBe(true);
    for (const [text, problem] of [
      ["9", "Brokers are 1, 2, 3"],
      ["1, 1", "A broker is named twice"],
      ["", "At least one broker"],
    ] as const) {
      fill("Replicas of partition 0", text);
      expect(screen.getByText(problem)).toBeTruthy();
      expect(review().disabled).toBe(true);
    }
    fill("Replicas of partition 0", "2 3");
    fireEvent.click(screen.getByLabelText("No limit"));
    press("Review plan");
    await waitFor(() =>
      expect(posted(asked)).toEqual({
        kind: "reassignment",
        cluster_id: "c1",
        inputs: { moves: [{ topic: "sales", partition: 0, replicas: [2, 3] }] },
      }),
    );
  });

  it("shows before and after, and ends in the verified operation", async () => {
    await open(
      "?topic=sales",
      {},
      {
        "POST /api/v1/operations": operation({ kind: "reassignment" }),
        "GET /console/api/pages/operation/op_1": {
          parts: { operation: ok(operation({ kind: "reassignment" })), plan: ok(moved) },
        },
      },
    );
    await rowsOf("Load of the brokers");
    press("Review plan");
    expect(await rowsOf("Partition moves")).toEqual([["sales-0", "12", "23", "2 KiB"]]);
    expect((await rowsOf("Brokers before and after"))[0]?.slice(-4)).toEqual([
      "0 B → 2 KiB",
      "0 → 1",
      "0 → 1",
      "2 → 0",
    ]);
    expect(screen.getByText(/Bytes are balanced within 5 % of the mean, replicas within 10 %/)).toBeTruthy();
    expect(screen.getByRole("list", { name: "Limits of the plan" }).textContent).toBe(
      "Broker 3: one partition is larger than its share",
    );
    press("Reassign partitions");
    expect(await screen.findByText("The partitions are where the plan said, and in sync")).toBeTruthy();
  });

  it("shows what moves already", async () => {
    const row = { topic: "sales", partition: 0, replicas: [1, 2, 3], adding: [3], removing: [] };
    await open("", {
      reassignments: ok({ total: 1, rows: [{ ...row, bytes_moved: null, bytes_to_move: 2048 }], unknown: [] }),
    });
    expect(await rowsOf("Partitions on the move")).toEqual([["sales-0", "123", "none", "unknown of 2 KiB"]]);
  });
});
