import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fill, openPage, press } from "@/testing/app";
import { describeListStates } from "@/testing/list-states";
import { ETAG, session, timelineEvent } from "@/testing/samples";
import { type Answers } from "@/testing/server";

const page = (rows: object[], next: string | null = null) => ({
  data: rows,
  page: { next, has_more: next !== null },
  kept_from: "2026-10-17T10:00:00Z",
});
const EVENTS = [
  timelineEvent({
    id: "op_1:ended",
    kind: "operation-ended",
    tone: "neutral",
    subject: "topic/sales",
    text: "Done: Change sales.",
    by: "user:ada",
    operation_id: "op_1",
  }),
  timelineEvent({ not_before: "2026-11-21T09:59:55Z" }),
  timelineEvent({
    id: "ev_3",
    kind: "config-changed",
    tone: "neutral",
    subject: "topic/a/b",
    text: "Configuration of topic a/b changed: retention.ms 1 → 2.",
  }),
  timelineEvent({
    id: "ev_4",
    kind: "deployment",
    tone: "neutral",
    subject: "",
    text: "<img src=x onerror=alert(1)> 2.0",
    by: "key:ci",
    removable: true,
  }),
];
const PATH = "/clusters/c1/events";
const open = (search = "", more: Answers = {}) =>
  openPage(`${PATH}${search}`, { "GET /api/v1/timeline": page(EVENTS), ...more });
const items = async () => within(await screen.findByRole("list", { name: "Events" })).findAllByRole("listitem");
const queryOf = (asked: { url: string }[]) => {
  const urls = asked.map((one) => one.url).filter((url) => url.startsWith("/api/v1/timeline"));
  return new URLSearchParams(urls.at(-1)?.split("?")[1]);
};

describeListStates({
  path: PATH,
  url: "GET /api/v1/timeline",
  answer: page(EVENTS),
  shows: "Broker left",
});

describe("the events of a cluster", () => {
  it("says what happened, by whom, and leads to it", async () => {
    await open();
    const rows = await items();
    expect(rows[0]?.textContent).toContain("Done: Change sales. Open operation by ada");
    expect(
      within(rows[0] as HTMLElement)
        .getByRole("link")
        .getAttribute("href"),
    ).toBe("/operations/op_1");
    expect(
      within(rows[2] as HTMLElement)
        .getByRole("link")
        .getAttribute("href"),
    ).toBe("/clusters/c1/topics/a%2Fb");
    expect(
      within(rows[1] as HTMLElement)
        .getByRole("link", { name: "Open broker" })
        .getAttribute("href"),
    ).toBe("/clusters/c1/brokers/2");
    expect(within(rows[3] as HTMLElement).queryByRole("link")).toBeNull();
  });

  it("says between which readings something that was observed happened", async () => {
    await open();
    const rows = await items();
    expect(rows[1]?.textContent).toContain("last seen otherwise");
    expect(rows[0]?.textContent).not.toContain("last seen otherwise");
  });

  it("shows hostile text as text", async () => {
    await open();
    const rows = await items();
    expect(rows[3]?.textContent).toContain("<img src=x onerror=alert(1)> 2.0");
    expect(document.querySelector("img[src=x]")).toBeNull();
  });

  it("asks for a day of everything, and for what the address says", async () => {
    const { asked } = await open();
    await items();
    const all = queryOf(asked);
    expect([all.get("cluster_id"), all.get("kind"), all.getAll("subject")]).toEqual(["c1", null, []]);
    const spanS = (Date.now() - Date.parse(all.get("from") ?? "")) / 1000;
    expect(Math.round(spanS / 3600)).toBe(24);
    const { asked: again } = await open("?last=1h&sort=deployments&subject=topic%2Fa");
    await waitFor(() => expect(queryOf(again).get("kind")).toBe("deployment"));
    expect(queryOf(again).getAll("subject")).toEqual(["topic/a"]);
  });

  it("goes on behind the last row", async () => {
    const older = timelineEvent({ id: "ev_9", text: "Broker 9 left the cluster." });
    const { asked } = await open("", {
      "GET /api/v1/timeline": ({ url }: { url: string }) =>
        url.includes("cursor=c2") ? page([older]) : page(EVENTS, "c2"),
    });
    await items();
    expect(screen.getByText(/4 events so far/)).toBeTruthy();
    press("Load older");
    expect(await screen.findByText(/Broker 9 left the cluster/)).toBeTruthy();
    expect(screen.getByText(/^5 events/)).toBeTruthy();
    expect(queryOf(asked).get("cursor")).toBe("c2");
  });

  it("says that nothing happened, and otherwise that nothing matches", async () => {
    await open("", { "GET /api/v1/timeline": page([]) });
    expect(await screen.findByText("Nothing happened in this time")).toBeTruthy();
    await open("?sort=alerts", { "GET /api/v1/timeline": page([]) });
    expect(await screen.findByText("No event matches")).toBeTruthy();
  });
});

describe("deployments", () => {
  it("are marked about a topic", async () => {
    const { asked } = await open("", { "POST /api/v1/deployments": timelineEvent({ kind: "deployment" }) });
    await items();
    press("Mark a deployment");
    const dialog = within(await screen.findByRole("dialog"));
    const send = dialog.getByRole<HTMLButtonElement>("button", { name: "Mark it" });
    expect(send.disabled).toBe(true);
    fill("What was deployed", " shop 2.0 ");
    fireEvent.click(dialog.getByRole("combobox", { name: "About" }));
    fireEvent.click(await screen.findByRole("option", { name: "a topic" }));
    expect(send.disabled).toBe(true);
    fireEvent.change(await dialog.findByLabelText("Topic"), { target: { value: "orders" } });
    fireEvent.click(send);
    await screen.findByText("The deployment is marked.");
    expect(asked.find((one) => one.method === "POST")?.body).toEqual({
      text: "shop 2.0",
      cluster_id: "c1",
      topic: "orders",
      group: null,
    });
  });

  it("are taken back after a question", async () => {
    const { asked } = await open("", {
      "GET /api/v1/deployments/ev_4": { ...timelineEvent({ id: "ev_4", kind: "deployment" }), etag: ETAG },
      "DELETE /api/v1/deployments/ev_4": null,
    });
    await items();
    press(/^Remove the mark/);
    fireEvent.click(await screen.findByRole("button", { name: "Take it back" }));
    await waitFor(() => expect(asked.find((one) => one.method === "DELETE")?.ifMatch).toBe(ETAG));
  });

  it("are offered to nobody who may only read", async () => {
    const event = timelineEvent({ kind: "deployment", removable: false });
    await open("", {
      "GET /console/api/session": session({ can_write: false }),
      "GET /api/v1/timeline": page([event]),
    });
    await items();
    expect(screen.queryByRole("button", { name: "Mark a deployment" })).toBeNull();
    expect(screen.queryByRole("button", { name: /^Remove the mark/ })).toBeNull();
  });
});
