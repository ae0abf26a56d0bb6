import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage, press } from "@/testing/app";
import { broker } from "@/testing/samples";
import { type Asked, ok, PENDING, Refusal, unavailable } from "@/testing/server";

const LOG = "GET /api/v1/clusters/c1/brokers/2/log";
const detail = (more: object = {}) => ({
  ...broker({ id: 2 }),
  managed: true,
  cluster_kind: "managed",
  may_change: true,
  is_controller: false,
  leaders: 8,
  replicas: 24,
  size_bytes: 4096,
  disk_total_bytes: null,
  disk_usable_bytes: null,
  ...more,
});
const away = unavailable("not of this test");
const line = (text: string, level: string | null = "INFO", cut = false) => ({ text, level, cut });
const page = (data: object[], next: string | null = null, more: object = {}) => ({
  data,
  page: { next, has_more: next !== null },
  size_bytes: 2048,
  written_at_ms: 0,
  answered_at_ms: 1,
  ...more,
});

const open = (answer: unknown, { search = "?tab=log", of = detail() }: { search?: string; of?: object } = {}) =>
  openPage(`/clusters/c1/brokers/2${search}`, {
    "GET /console/api/pages/broker/c1/2": {
      parts: { broker: ok(of), trouble: away, process: away, settings: away, operations: away },
    },
    [LOG]: answer,
  });
const text = async () => (await screen.findByLabelText("Lines of the log")).textContent;
const asksOf = (asked: Asked[]) => asked.filter((one) => one.url.includes("/log")).map((one) => one.url.split("?")[1]);

describe("the end of a broker's log", () => {
  it("shows its lines in their order, marked by level, with their age and size", async () => {
    await open(page([line("first"), line("worse", "ERROR"), line("long", "WARNING", true)]));
    expect(await text()).toBe("first\nworse\nlong … (cut)\n");
    const box = screen.getByLabelText("Lines of the log");
    expect([...box.children].map((each) => each.className)).toEqual(["", "ps-bad", "ps-warn"]);
    expect(screen.getByText(/^Read on its host/).textContent).toMatch(/3 lines shown\.$/);
    expect(screen.getByText(/The host keeps 2 KiB\./).title).toBe("2,048 B");
    expect(screen.getByText("This is the beginning of what the host keeps.")).toBeTruthy();
  });

  it("shows what strangers wrote as text, with what would be invisible", async () => {
    await open(page([line("<b>bold</b> \u001b[31m \u202eolleh")]));
    expect(await text()).toBe("<b>bold</b> ␛[31m ⟨U+202E⟩olleh\n");
    expect(screen.getByLabelText("Lines of the log").querySelector("b")).toBeNull();
  });

  it("goes back page by page and puts what was before above", async () => {
    const { asked } = await open((one: Asked) =>
      one.url.includes("cursor=older") ? page([line("before")]) : page([line("last")], "older"),
    );
    expect(await text()).toBe("last\n");
    press("Show earlier lines");
    await waitFor(async () => expect(await text()).toBe("before\nlast\n"));
    expect(asksOf(asked)).toEqual(["page_size=200", "cursor=older&page_size=200"]);
  });

  it("looks again on request and forgets what was before", async () => {
    let turn = 0;
    const { asked } = await open((one: Asked) => {
      if (one.url.includes("cursor=")) return page([line("before")]);
      turn += 1;
      return page([line(`look ${turn}`)], "older", { answered_at_ms: turn });
    });
    await screen.findByText("look 1");
    press("Show earlier lines");
    await waitFor(async () => expect(await text()).toBe("before\nlook 1\n"));
    press("Look again");
    await waitFor(async () => expect(await text()).toBe("look 2\n"));
    expect(asksOf(asked)).toHaveLength(3);
  });

  it("filters by level in the address, and goes on where nothing was found yet", async () => {
    const { asked, router } = await open((one: Asked) =>
      one.url.includes("cursor=")
        ? page([line("found", "ERROR")])
        : page([], one.url.includes("level") ? "older" : null),
    );
    expect(await screen.findByText("The log is empty")).toBeTruthy();
    fireEvent.change(screen.getByLabelText("Level"), { target: { value: "ERROR" } });
    expect(await screen.findByText("No such line in the part that was looked at so far.")).toBeTruthy();
    expect(router.state.location.search).toEqual({ tab: "log", level: "ERROR" });
    press("Look further back");
    expect(await text()).toBe("found\n");
    expect(asksOf(asked).slice(1)).toEqual(["level=ERROR&page_size=200", "level=ERROR&cursor=older&page_size=200"]);
  });

  it("says that no line is of the level when all was looked at", async () => {
    await open(page([]), { search: "?tab=log&level=CRITICAL" });
    expect(await screen.findByText("No line of CRITICAL or above")).toBeTruthy();
    expect(screen.queryByLabelText("Lines of the log")).toBeNull();
  });

  it("wraps long lines on request", async () => {
    await open(page([line("long")]));
    const box = await screen.findByLabelText("Lines of the log");
    expect(box.style.whiteSpace).toBe("pre");
    fireEvent.click(screen.getByRole("switch", { name: "Wrap" }));
    expect(box.style.whiteSpace).toBe("pre-wrap");
  });

  it("says that nothing is known when the agent does not answer, and keeps what was seen", async () => {
    let isAway = false;
    const silent = new Refusal(503, "Temporarily unavailable", "Unknown: the agent of host-1 does not answer.");
    await open(() => (isAway ? silent : page([line("seen")])));
    expect(await text()).toBe("seen\n");
    isAway = true;
    press("Look again");
    expect(await screen.findByText("Unknown: the agent of host-1 does not answer.")).toBeTruthy();
    expect(await text()).toBe("seen\n");
    expect(screen.getByText(/Below it is as it was/)).toBeTruthy();
    isAway = false;
    press("Try again");
    await waitFor(() => expect(screen.queryByText(/does not answer/)).toBeNull());
  });

  it("never shows silence as an empty log", async () => {
    await open(new Refusal(503, "Temporarily unavailable", "Unknown: the agent of host-1 does not answer."));
    expect(await screen.findByText("Unknown: the agent of host-1 does not answer.")).toBeTruthy();
    expect(screen.queryByText("The log is empty")).toBeNull();
  });

  it("says that it is looking", async () => {
    await open(PENDING);
    expect(await screen.findByLabelText("Loading")).toBeTruthy();
  });

  it("asks nobody where the broker is run by others", async () => {
    const { asked } = await open(page([]), { of: detail({ cluster_kind: "registered", managed: false }) });
    expect(await screen.findByText("Not available: this broker is run by others")).toBeTruthy();
    expect(asksOf(asked)).toEqual([]);
  });

  it("asks nobody for who may not see it", async () => {
    const { asked } = await open(page([]), { of: detail({ may_change: false }) });
    expect(await screen.findByText("The log is not shown to you")).toBeTruthy();
    expect(asksOf(asked)).toEqual([]);
  });
});
