import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { heading, openPage } from "@/testing/app";
import { cluster, session, topicCounts, topicRow } from "@/testing/samples";
import { type Answers, ok, Refusal } from "@/testing/server";

const NOTHING = { results: [], more: [] };
const TOPIC = {
  kind: "topic",
  id: "<img src=x>",
  title: "<img src=x>",
  note: "",
  cluster_id: "c1",
  cluster_name: "main",
};

const open = (path = "/", more: Answers = {}) =>
  openPage(path, {
    "GET /console/api/pages/overview": {
      parts: { clusters: ok([cluster()]), attention: ok([]), operations: ok([]), hosts: ok([]) },
    },
    "GET /console/api/pages/topics/c1": { parts: { topics: ok([topicRow()]), counts: ok(topicCounts()) } },
    "GET /console/api/search": NOTHING,
    ...more,
  });
const press = (key: string, more: object = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const palette = async () => {
  press("k", { ctrlKey: true });
  return screen.findByRole("combobox", { name: "Search and go to" });
};
const type = (field: HTMLElement, text: string) => fireEvent.change(field, { target: { value: text } });
const chosen = () => screen.queryAllByRole("option").find((option) => option.getAttribute("aria-selected") === "true");

describe("the palette", () => {
  beforeEach(() => localStorage.clear());

  it("opens with the keyboard, finds a page by its name, and goes there with Enter", async () => {
    const { router } = await open();
    const field = await palette();
    type(field, "topi");
    await waitFor(() => expect(chosen()?.textContent).toContain("Topics"));
    expect(field.getAttribute("aria-activedescendant")).toBe(chosen()?.id);
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(router.state.location.pathname).toBe("/clusters/c1/topics"));
    await waitFor(() => expect(screen.queryByRole("combobox", { name: "Search and go to" })).toBeNull());
  });

  it("asks the server once somebody pauses, and shows hostile names as text", async () => {
    const { asked, router } = await open("/", { "GET /console/api/search": { results: [TOPIC], more: ["topic"] } });
    const field = await palette();
    for (const text of ["i", "im", "img"]) type(field, text);
    const option = await screen.findByRole("option", { name: /<img src=x>/ });
    expect(option.querySelector("img")).toBeNull();
    expect(screen.getByText("More of these exist. Type more of the name.")).toBeTruthy();
    const searches = asked.filter(({ url }) => url.startsWith("/console/api/search"));
    expect(searches.map(({ url }) => url)).toEqual(["/console/api/search?q=img"]);
    fireEvent.click(option);
    await waitFor(() =>
      expect(decodeURIComponent(router.state.location.pathname)).toBe("/clusters/c1/topics/<img src=x>"),
    );
  });

  it("goes round with the arrows, and offers what was opened last, then favourites", async () => {
    const favourite = { kind: "topic", cluster_id: "c1", name: "payments" };
    const { router } = await open("/", { "GET /console/api/favourites": { data: [favourite] } });
    const field = await palette();
    type(field, "operations");
    await waitFor(() => expect(chosen()?.textContent).toContain("Operations"));
    fireEvent.keyDown(field, { key: "Enter" });
    await waitFor(() => expect(screen.queryByRole("combobox", { name: "Search and go to" })).toBeNull());
    act(() => router.history.push("/"));
    await waitFor(() => expect(heading()).toBe("Overview"));
    await palette();
    const favourites = await screen.findByRole("group", { name: "Favourites" });
    expect(within(favourites).getByRole("option").textContent).toBe("paymentsorders");
    const recent = await screen.findByRole("group", { name: "Recent" });
    expect(within(recent).getByRole("option").textContent).toContain("Operations");
    const again = screen.getByRole("combobox", { name: "Search and go to" });
    fireEvent.keyDown(again, { key: "ArrowUp" });
    const options = within(screen.getByRole("listbox", { name: "Search and go to" })).getAllByRole("option");
    expect(chosen()).toBe(options[options.length - 1]);
    fireEvent.keyDown(again, { key: "ArrowDown" });
    expect(chosen()).toBe(options[0]);
  });

  it("says when nothing is found, and when the search failed; pages stay", async () => {
    let answer: unknown = NOTHING;
    await open("/", { "GET /console/api/search": () => answer });
    const field = await palette();
    type(field, "zzz");
    expect(await screen.findByText("Nothing has a name like “zzz”.")).toBeTruthy();
    answer = new Refusal(503, "later");
    type(field, "audit");
    expect(await screen.findByText("The search failed. Pages can still be opened.")).toBeTruthy();
    expect(screen.getByRole("option", { name: /Audit/ })).toBeTruthy();
  });

  it("loses no letter that is typed before it is there, and types it nowhere else", async () => {
    await open("/clusters/c1/topics");
    const search = await screen.findByRole("searchbox", { name: "Search topics" });
    search.focus();
    press("k", { ctrlKey: true });
    // None of these waits for anything: the palette is not loaded, or has not got the focus yet.
    const went = ["r", "x", "Backspace", "u", "n"].map((key) => fireEvent.keyDown(search, { key }));
    expect(went).toEqual([false, false, false, false, false]);
    const field = await screen.findByRole("combobox", { name: "Search and go to" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect((field as HTMLInputElement).value).toBe("run");
    expect((search as HTMLInputElement).value).toBe("");
    await screen.findByRole("option", { name: /Runbooks/ });
  });

  it("is put away with Escape before it is there, and begins empty again", async () => {
    await open();
    press("k", { ctrlKey: true });
    press("a");
    press("Escape");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(((await palette()) as HTMLInputElement).value).toBe("");
  });

  it("opens at a click for those who do not know the key", async () => {
    await open();
    fireEvent.click(screen.getAllByRole("button", { name: /^Search/ })[0] as HTMLElement);
    expect(await screen.findByRole("combobox", { name: "Search and go to" })).toBeTruthy();
  });
});

describe("shortcuts", () => {
  it("go to topics with g t, and show all of them with a question mark", async () => {
    const { router } = await open();
    await screen.findByRole("link", { name: /^Topics$/ });
    press("g");
    press("t");
    await waitFor(() => expect(router.state.location.pathname).toBe("/clusters/c1/topics"));
    await waitFor(() => expect(heading()).toBe("Topics"));
    press("?", { shiftKey: true });
    const help = await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
    expect(within(help).getByText("Go to Topics")).toBeTruthy();
    expect(within(help).queryByText("Go to Platform")).toBeNull();
  });

  it("are letters while somebody types", async () => {
    const { router } = await open("/clusters/c1/topics");
    (await screen.findByRole("searchbox")).focus();
    press("g");
    press("h");
    press("?");
    expect(router.state.location.pathname).toBe("/clusters/c1/topics");
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("focus the list's search with a slash", async () => {
    await open("/clusters/c1/topics");
    const field = await screen.findByRole("searchbox");
    fireEvent.keyDown(document.body, { key: "/" });
    expect(document.activeElement).toBe(field);
  });

  it("open nothing over a login", async () => {
    await open("/login", { "GET /console/api/session": { ...session(), user: null, tenant: null, tenants: [] } });
    press("k", { ctrlKey: true });
    expect(screen.queryByRole("combobox")).toBeNull();
  });
});
