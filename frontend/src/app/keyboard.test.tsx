/** What somebody without a mouse needs of every page; what is seen of the focus is held by the browser's walk (tests/e2e/accessibility.py). */
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage } from "@/testing/app";
import {
  broker,
  cluster,
  collector,
  operation,
  plan,
  session,
  topic,
  topicCounts,
  topicRow,
  versions,
} from "@/testing/samples";
import { alert } from "@/testing/samples-alerts";
import { group, groupCounts, groupRow } from "@/testing/samples-groups";
import { type Answers, ok, Refusal } from "@/testing/server";

const gold = { as_of: null, run_id: null, data: [] };
const PLAN = "POST /api/v1/plans";
const PAGES: Answers = {
  "GET /console/api/session": session(),
  "GET /api/v1/alerts": { data: [alert()], page: { next: null, has_more: false } },
  "GET /console/api/pages/topics/c1": { parts: { topics: ok([topicRow()]), counts: ok(topicCounts()) } },
  "GET /console/api/pages/topic/c1/sales": { parts: { topic: ok(topic()), retention: ok(gold) } },
  "GET /console/api/pages/groups/c1": { parts: { groups: ok([groupRow()]), counts: ok(groupCounts()), lag: ok(gold) } },
  "GET /console/api/pages/group/c1/readers": {
    parts: { group: ok(group()), lag: ok(gold), retention: ok(gold), collector: ok(collector()) },
  },
  "GET /console/api/pages/cluster/c1": {
    parts: {
      cluster: ok(cluster({ brokers: [broker()] })),
      summary: ok({ topics: 1, partitions: 1, under_replicated: 0, offline: 0, size_bytes: 1 }),
      loads: ok([{ id: 1, leaders: 1, replicas: 1, size_bytes: 1 }]),
      versions: ok(versions()),
      reassignments: ok({ total: 0, rows: [], unknown: [] }),
      attention: ok([]),
      events: ok([]),
      operations: ok([operation()]),
      client_config: ok({
        values: {},
        mechanisms: ["SCRAM-SHA-512"],
        properties: "bootstrap.servers=x",
        java: "",
        python: "",
        snippets: [],
      }),
    },
  },
  "GET /console/api/pages/operation/op_1": { parts: { operation: ok(operation()), plan: ok(plan()) } },
};

const REACHED = "a[href], button, input:not([type=hidden]), select, textarea, [tabindex]";
const stops = (root: ParentNode = document) =>
  [...root.querySelectorAll<HTMLElement>(REACHED)].filter(
    (one) => one.tabIndex >= 0 && !one.hasAttribute("disabled") && one.closest("[inert]") === null,
  );
/** As a screen reader would call it; enough of the rules to find what has no name at all. */
const nameOf = (one: HTMLElement): string =>
  [
    one.getAttribute("aria-label"),
    ...(one.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent),
    ...[...((one as HTMLInputElement).labels ?? [])].map((label) => label.textContent),
    one.textContent,
    one.getAttribute("title"),
  ]
    .filter(Boolean)
    .join(" ")
    .trim();

const WALKED: [path: string, shows: RegExp][] = [
  ["/", /Everything Acme runs/],
  ["/clusters/c1", /^Brokers alive$/],
  ["/clusters/c1/topics", /^sales$/],
  ["/clusters/c1/topics/sales", /^Records held$/],
  ["/clusters/c1/groups", /^readers$/],
  ["/clusters/c1/groups/readers", /^Behind by$/],
  ["/operations/op_1", /^Steps$/],
  ["/alerts", /loses unread records/],
];

describe("by keyboard", () => {
  it.each(WALKED)(
    "%s has stops in the order of the page, each with a name, behind a link to the content",
    async (path, shows) => {
      await openPage(path, PAGES);
      await screen.findAllByText(shows);
      const all = stops();
      expect(all[0]?.textContent).toBe("Skip to content");
      expect(all[0]?.getAttribute("href")).toBe("#main");
      // A link leads to what takes the focus.
      expect(document.getElementById("main")?.tabIndex).toBe(-1);
      expect(all.filter((one) => one.tabIndex > 0)).toEqual([]);
      expect(all.filter((one) => nameOf(one) === "").map((one) => one.outerHTML.slice(0, 120))).toEqual([]);
      expect(all.filter((one) => one.closest("[aria-hidden=true]") !== null).map((one) => nameOf(one))).toEqual([]);
    },
  );

  it("a dialog takes the focus, keeps it, is left with Escape, and gives it back", async () => {
    await openPage("/clusters/c1/groups/readers", {
      ...PAGES,
      [PLAN]: new Refusal(409, "Not now", "The group has members."),
    });
    const more = await screen.findByRole("button", { name: /More/ });
    more.focus();
    fireEvent.click(more);
    fireEvent.click(await screen.findByRole("menuitem", { name: "Delete group" }));
    const dialog = await screen.findByRole("dialog");
    await waitFor(() =>
      expect(dialog.contains(document.activeElement), document.activeElement?.outerHTML.slice(0, 200)).toBe(true),
    );
    // What went wrong is said aloud, not only shown.
    expect((await within(dialog).findByRole("alert")).textContent).toContain("The group has members.");
    fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(more));
  });

  it("the palette and the list of shortcuts give the focus back, too", async () => {
    await openPage("/clusters/c1/topics", PAGES);
    const search = await screen.findByRole("searchbox", { name: "Search topics" });
    search.focus();
    fireEvent.keyDown(search, { key: "k", ctrlKey: true });
    const field = await screen.findByRole("combobox", { name: "Search and go to" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    fireEvent.keyDown(field, { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(search));
  });

  it("a page that cannot be read says so aloud", async () => {
    await openPage("/clusters/c1/topics", {
      ...PAGES,
      "GET /console/api/pages/topics/c1": new Refusal(500, "No", "It failed."),
    });
    expect((await screen.findAllByRole("alert")).some((one) => one.textContent.includes("It failed."))).toBe(true);
  });

  it("a key figure says its exact value under the focus, and puts it away with Escape", async () => {
    await openPage("/clusters/c1/topics/sales", PAGES);
    const [size] = await screen.findAllByRole("button", { name: "2 KiB" });
    size?.focus();
    expect((await screen.findByRole("tooltip")).textContent).toBe("2,048 bytes");
    expect(size?.getAttribute("aria-describedby")).toBe(screen.getByRole("tooltip").id);
    fireEvent.keyDown(document.body, { key: "Escape" });
    await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  });

  it("a tap on a number of a table does the same", async () => {
    await openPage("/clusters/c1/topics", PAGES);
    const size = (await screen.findAllByText("2 KiB"))[0] as HTMLElement;
    const tap = (on: Element) => {
      const event = new MouseEvent("pointerup", { bubbles: true });
      Object.defineProperty(event, "pointerType", { value: "touch" });
      fireEvent(on, event);
    };
    tap(size);
    expect((await screen.findByRole("tooltip")).textContent).toBe("2,048 bytes");
    tap(document.body);
    await waitFor(() => expect(screen.queryByRole("tooltip")).toBeNull());
  });
});
