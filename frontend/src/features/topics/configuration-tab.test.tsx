import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { fill, openPage, press, rowsOf } from "@/testing/app";
import { AT, config, operation, plan, session, topic } from "@/testing/samples";
import { type Answers, ok, Refusal, unavailable } from "@/testing/server";

const HISTORY = "GET /api/v1/clusters/c1/topics/sales/config-history";
const history = (...data: object[]) => ({ data, complete: true });
const changed = (fields: object = {}) => ({
  operation_id: "op_7",
  kind: "topic.update",
  at: AT,
  actor: "user:ada",
  reason: "billing was behind",
  undone_by: null,
  changes: [
    {
      key: "retention.ms",
      before: null,
      after: "3600000",
      effective_before: "604800000",
      effective_after: "3600000",
    },
  ],
  ...fields,
});
const CONFIGS = [
  config(),
  config({ name: "cleanup.policy", value: "delete", is_default: true, source: "DEFAULT_CONFIG", doc: "" }),
  config({ name: "max.message.bytes", value: "1048588", is_default: true, source: "STATIC_BROKER_CONFIG", doc: "" }),
  config({ name: "segment.ms", value: "9223372036854775807", is_default: true, source: "DEFAULT_CONFIG", doc: "" }),
  config({ name: "compression.type", value: "producer", is_default: true, source: "DEFAULT_CONFIG", doc: "" }),
  config({ name: "preallocate", value: "false", is_default: true, source: "DEFAULT_CONFIG", doc: "" }),
  config({ name: "their.own", value: "<b>x</b>", source: "TOPIC_CONFIG", doc: "" }),
];
const open = (more: Answers = {}, configs: typeof CONFIGS | null = CONFIGS) =>
  openPage("/clusters/c1/topics/sales?tab=configuration", {
    "GET /console/api/pages/topic/c1/sales": {
      parts: { topic: ok(topic({ configs })), retention: unavailable("not yet") },
    },
    [HISTORY]: history(),
    "POST /api/v1/plans": plan({ kind: "topic.update", confirm_phrase: null }),
    ...more,
  });
const groups = () =>
  screen
    .getAllByRole("rowheader")
    .map((head) => (within(head).getByText(/.*/, { selector: "strong" }) as HTMLElement).textContent);
/** The rows of settings; a group's own row has no cells. */
const settings = async () =>
  within(await screen.findByRole("table", { name: "Configuration" }))
    .getAllByRole("row")
    .slice(1)
    .map((row) =>
      within(row)
        .queryAllByRole("cell")
        .map((cell) => cell.textContent),
    )
    .filter((row) => row.length > 0);
const bodies = (asked: { method: string; body: unknown }[]) =>
  asked.filter((one) => one.method === "POST").map((one) => one.body);
const review = () => screen.getByRole("button", { name: /^Review/ }) as HTMLButtonElement;

beforeEach(() => sessionStorage.clear());

describe("the configuration of a topic", () => {
  it("is grouped, with what each setting means and may be, its value in words, and where it comes from", async () => {
    await open();
    expect(await settings()).toEqual([
      ["cleanup.policydelete, compact, or both.Allowed: one or more of compact, delete.", "delete", "default", ""],
      [
        "retention.msHow long records are kept.Allowed: milliseconds, at least -1.",
        "3600000 ms (1 hour)",
        "this topic",
        "",
      ],
      [
        "max.message.bytesThe largest record batch.Allowed: bytes, at least 0.",
        "1048588 bytes (about 1 MiB)",
        "broker file",
        "",
      ],
      [
        "compression.typeCodec of the log; producer keeps the client's.Allowed: one of uncompressed, zstd, lz4, snappy, gzip, producer.",
        "producer",
        "default",
        "",
      ],
      ["segment.msAge at which a segment is rolled.Allowed: milliseconds, at least 1.", "no limit", "default", ""],
      [
        "preallocateWithout effect here: segments are never preallocated.Allowed: true or false.",
        "false",
        "default",
        "",
      ],
      ["their.own", "<b>x</b>", "this topic", ""],
    ]);
    expect(groups()).toEqual(["Retention", "Messages", "Segments and flushing", "Others"]);
  });

  it("puts the cursor into the field of a setting that is opened", async () => {
    await open();
    await settings();
    press("Edit retention.ms");
    expect(document.activeElement).toBe(screen.getByLabelText("New value of retention.ms"));
    press("Edit preallocate");
    expect(document.activeElement).toBe(screen.getByLabelText("New value of preallocate"));
    press("Edit cleanup.policy");
    expect(document.activeElement).toBe(screen.getByLabelText("compact"));
  });

  it("takes values with their units, shows what they come to, and plans all changes together", async () => {
    const { asked } = await open();
    await settings();
    press("Edit max.message.bytes");
    fill("New value of max.message.bytes", "2 MiB");
    expect(screen.getByText("2097152 bytes")).toBeTruthy();
    press("Edit compression.type");
    fill("New value of compression.type", "zstd");
    press("Edit cleanup.policy");
    fireEvent.click(screen.getByLabelText("compact"));
    press("Reset retention.ms");
    expect(screen.getByText("back to the default")).toBeTruthy();
    expect(within(screen.getByRole("region", { name: "Changes not saved yet" })).getByRole("status").textContent).toBe(
      "4 changes, nothing saved yet",
    );
    press("Review 4 changes");
    await screen.findByRole("form", { name: "Plan" });
    expect(bodies(asked)).toEqual([
      {
        kind: "topic.update",
        cluster_id: "c1",
        inputs: {
          name: "sales",
          configs: {
            "max.message.bytes": "2097152",
            "compression.type": "zstd",
            "cleanup.policy": "compact,delete",
            "retention.ms": null,
          },
        },
      },
    ]);
  });

  it("says at the field what is wrong, before anything is asked for", async () => {
    const { asked } = await open();
    await settings();
    press("Edit retention.ms");
    fill("New value of retention.ms", "soon");
    expect(screen.getByText("Type for example 7 days, 90 minutes or 604800000.")).toBeTruthy();
    expect(screen.getByLabelText("New value of retention.ms").getAttribute("aria-invalid")).toBe("true");
    expect(screen.getByText("1 value is not valid")).toBeTruthy();
    expect(review().disabled).toBe(true);
    fill("New value of retention.ms", "1 hour");
    expect(screen.getByText("Nothing differs from what is set")).toBeTruthy();
    expect(review().disabled).toBe(true);
    expect(bodies(asked)).toEqual([]);
  });

  it("says at the field what the plan refuses, until another value is typed there", async () => {
    const errors = [
      { pointer: "/inputs/configs/retention.ms", code: "refused-by-cluster", detail: "Not below segment.ms here." },
    ];
    await open({ "POST /api/v1/plans": new Refusal(422, "Some fields are not valid", "x", { errors }) });
    await settings();
    press("Edit retention.ms");
    fill("New value of retention.ms", "2 h");
    press("Review 1 change");
    expect(await screen.findByText("Not below segment.ms here.")).toBeTruthy();
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    fill("New value of retention.ms", "3 h");
    expect(screen.queryByText("Not below segment.ms here.")).toBeNull();
    expect(review().disabled).toBe(false);
  });

  it("says what the plan refuses of the settings together, where no field stands for it", async () => {
    const errors = [{ pointer: "/inputs/configs", code: "refused-by-cluster", detail: "They do not fit each other." }];
    await open({ "POST /api/v1/plans": new Refusal(422, "Some fields are not valid", "x", { errors }) });
    await settings();
    press("Edit retention.ms");
    fill("New value of retention.ms", "2 h");
    press("Review 1 change");
    expect((await screen.findByText("They do not fit each other.")).closest("[role=alert]")).toBeTruthy();
    expect(review().disabled).toBe(false);
  });

  it("keeps what is typed over another tab and a reload, until it is planned and confirmed or discarded", async () => {
    await open({
      "POST /api/v1/operations": operation({ kind: "topic.update" }),
      "GET /console/api/pages/operation/op_1": { parts: { operation: ok(operation()), plan: ok(plan()) } },
    });
    await settings();
    press("Edit retention.ms");
    fill("New value of retention.ms", "2 h");
    fireEvent.click(screen.getByRole("tab", { name: "Partitions" }));
    fireEvent.click(await screen.findByRole("tab", { name: "Configuration" }));
    expect(((await screen.findByLabelText("New value of retention.ms")) as HTMLInputElement).value).toBe("2 h");
    cleanup();
    await open({ "POST /api/v1/operations": operation({ kind: "topic.update" }) });
    expect(((await screen.findByLabelText("New value of retention.ms")) as HTMLInputElement).value).toBe("2 h");
    press("Review 1 change");
    await screen.findByRole("form", { name: "Plan" });
    fireEvent.click(screen.getByTestId("confirm-plan"));
    await waitFor(() => expect(screen.queryByLabelText("New value of retention.ms")).toBeNull());
  });

  it("is searched by name and by meaning, and hides what the topic does not set", async () => {
    await open();
    await settings();
    fill("Search configuration", "how long records");
    await waitFor(async () => expect((await settings()).map((row) => row[0]?.slice(0, 12))).toEqual(["retention.ms"]));
    fill("Search configuration", "nothing of it");
    expect(await screen.findByText("Nothing matches")).toBeTruthy();
    fill("Search configuration", "");
    fireEvent.click(screen.getByLabelText("Only what this topic sets"));
    await waitFor(async () => expect(await settings()).toHaveLength(2));
  });

  it("offers no change of what is not for here to set, and none at all to a viewer", async () => {
    await open();
    await settings();
    expect(screen.queryByRole("button", { name: "Edit their.own" })).toBeNull();
    cleanup();
    await open({ "GET /console/api/session": session({ can_write: false }), [HISTORY]: history(changed()) });
    await settings();
    await rowsOf("Configuration history");
    expect(screen.queryByRole("button", { name: /^(Edit|Reset|More|Put back)/ })).toBeNull();
  });

  it("says that the settings are not known", async () => {
    await open({}, null);
    expect(await screen.findByText("The settings are not known")).toBeTruthy();
  });
});

describe("the history of a topic's configuration", () => {
  it("says who changed what from what to what, also what had a default", async () => {
    await open({ [HISTORY]: history(changed({ undone_by: "op_8" })) });
    const [row] = await rowsOf("Configuration history");
    expect(row?.[1]).toBe("adaChange topic configuration, undonebilling was behind");
    expect(row?.[2]).toBe("retention.ms: 604800000 ms (7 days, default)→3600000 ms (1 hour)");
  });

  it("puts a change back by a plan, and offers that only where it would change anything", async () => {
    const other = changed({
      operation_id: "op_6",
      changes: [
        { key: "cleanup.policy", before: null, after: null, effective_before: "delete", effective_after: "delete" },
      ],
    });
    const { asked } = await open({ [HISTORY]: history(changed(), other) });
    await rowsOf("Configuration history");
    expect(screen.getAllByRole("button", { name: /^Put back/ })).toHaveLength(1);
    press("Put back what was before op_7");
    await screen.findByRole("form", { name: "Plan" });
    expect(bodies(asked)).toEqual([
      { kind: "topic.update", cluster_id: "c1", inputs: { name: "sales", configs: { "retention.ms": null } } },
    ]);
  });

  it("says that there is none, that it failed, and that there is more", async () => {
    await open();
    expect(await screen.findByText("No change is on record")).toBeTruthy();
    cleanup();
    await open({ [HISTORY]: new Refusal(503, "The database is busy.") });
    expect(await screen.findByText("The database is busy.")).toBeTruthy();
    cleanup();
    await open({ [HISTORY]: { ...history(changed()), complete: false } });
    expect(await screen.findByText("Older changes are in the audit log.")).toBeTruthy();
  });
});
