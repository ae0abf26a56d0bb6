/** Walks over the pages in a language made by a machine: nothing but data stays English on a page, and in all that it opens.
 * Says which dialog or menu of the source nothing opened. */
import { act, cleanup, fireEvent, waitFor } from "@testing-library/react";
import { beforeAll, expect, it, vi } from "vitest";
import { answersAt, EVERY_PAGE, SAME_EVERYWHERE } from "./every-page";
import { memory, walkDialogs } from "./dialog-walk";
import { type Answers, Refusal } from "./server";
import { GIVEN } from "./other-language";
import { everyPlace, wasOpen } from "./overlay-places";
import { ACTED, ACTS } from "./whole-console-acts";

export type Part = keyof typeof EVERY_PAGE;

/** Whose walk opens what stands in which part of the source. */
const OPENED_IN: Record<Part, readonly string[]> = {
  clusters: [
    "features/clusters",
    "features/brokers",
    "features/events",
    "features/reassignments",
    "features/drift",
    "features/access",
    "app/",
  ],
  data: ["features/topics", "features/groups", "features/messages", "features/insights", "components/"],
  tenant: [
    ...["features/alerts", "features/audit", "features/destinations", "features/objectives", "features/operations"],
    ...["features/platform", "features/runbooks", "features/session", "features/settings", "features/usage"],
    ...["components/shown-once", "components/objective-form", "components/operation-live"],
    ...["components/destination-form", "components/destination-list", "components/test-destination"],
  ],
};
const reach = (part: Part, place: string): number =>
  Math.max(0, ...OPENED_IN[part].filter((begins) => place.startsWith(begins)).map(({ length }) => length));
/** By the longest of what the place begins with; a new folder belongs to the walk of the tenant's pages. */
function isOpenedIn(part: Part, place: string): boolean {
  const [first] = (["tenant", "clusters", "data"] as const).toSorted((a, b) => reach(b, place) - reach(a, place));
  return first === part;
}

/** A page with much to press takes its time. */
const PATIENCE_MS = 300_000;

/** The console with its modules loaded once, in the other language. */
async function inPseudo() {
  vi.resetModules();
  const [{ speakIn }, { pseudo }, en] = await Promise.all([
    import("@/words/shown"),
    import("./pseudo"),
    import("@/words/en"),
  ]);
  const language = pseudo(en);
  speakIn(language);
  const [{ openPage, STANDING }, { leakFinder }, { words }] = await Promise.all([
    import("./app"),
    import("./leaks"),
    import("@/words/late-parts"),
  ]);
  return { openPage, STANDING, leakFinder, closing: [words.formModal.cancel] };
}

/** The same server, which refuses every read but that of the session. */
const refusing = (answers: Answers, status: number): Answers =>
  Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      name.endsWith("/console/api/session") ? answer : new Refusal(status, "The test has no answer"),
    ]),
  );

export function walkPages(part: Part): void {
  let console: Awaited<ReturnType<typeof inPseudo>>;
  beforeAll(async () => {
    // What a browser has and jsdom lacks, for buttons that copy and that make a file.
    Object.assign(navigator, { clipboard: { writeText: () => Promise.resolve() } });
    Object.assign(URL, { createObjectURL: () => "blob:file", revokeObjectURL: () => undefined });
    console = await inPseudo();
  }, PATIENCE_MS);
  const routes = Object.entries<readonly string[]>(EVERY_PAGE[part]);
  for (const [route, paths] of routes) {
    // What the tabs of a page share is pressed on the first of them.
    const known = memory();
    it.each([...paths])(
      `no English is left on ${route} and in what it opens, at %s`,
      async (path) => {
        const answers = { ...answersAt(path), ...ACTS };
        const walked = await walkDialogs(path, answers, known, {
          open: console.openPage,
          leaks: console.leakFinder([console.STANDING, answers, ACTED, GIVEN], SAME_EVERYWHERE),
          standing: console.STANDING,
          closing: console.closing,
        });
        expect(walked).toEqual({ english: [], unanswered: [], crashed: [] });
      },
      PATIENCE_MS,
    );
  }
  if (part === "clusters") {
    it("the help and the login over a page have no English", async () => {
      const answers = answersAt("/");
      const leaks = console.leakFinder([console.STANDING, answers, GIVEN], SAME_EVERYWHERE);
      await console.openPage("/", answers);
      fireEvent.keyDown(window, { key: "?" });
      await waitFor(() => expect(document.querySelector("[role=dialog]")).not.toBeNull());
      const found = leaks();
      fireEvent.keyDown(document.querySelector("[role=dialog]") ?? window, { key: "Escape", code: "Escape" });
      await waitFor(() => expect(document.querySelector("[role=dialog]")).toBeNull());
      const { setSignedOut } = await import("@/lib/signed-out");
      act(() => setSignedOut(true));
      await waitFor(() => expect(document.querySelector("[role=dialog]")).not.toBeNull());
      found.push(...leaks());
      act(() => setSignedOut(false));
      expect(found).toEqual([]);
    });
  }
  const paths = routes.flatMap(([, each]) => [...each]);
  it.each(paths)("where %s is refused, and where it fails, has no English", async (path) => {
    const found: string[] = [];
    for (const status of [403, 503]) {
      const answers = refusing({ ...console.STANDING, ...answersAt(path) }, status);
      const { client } = await console.openPage(path, answers);
      await waitFor(() => expect(client.isFetching()).toBe(0));
      found.push(...console.leakFinder([console.STANDING, answersAt(path), GIVEN], SAME_EVERYWHERE)());
      cleanup();
    }
    expect(found).toEqual([]);
  });
  it("every dialog and menu was open", () => {
    const never = everyPlace().filter((place) => isOpenedIn(part, place) && !wasOpen(place));
    expect(never).toEqual([]);
  });
}
