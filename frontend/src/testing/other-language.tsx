/** A page in a language made by a machine: what is on the screen in English came neither from the catalogue nor from the
 * server's answers, and would stay English in every other language. */
import { act, cleanup, waitFor } from "@testing-library/react";
import { expect, vi } from "vitest";
import type { Answers } from "./server";

/** What no language changes beside what the answers hold: a refusal of the test's own server, its charts. */
export const GIVEN = ["rq_test", "The test has no answer", "gap"];

interface Seen {
  /** The texts of the page that stay English. */
  english: string[];
  /** What it asked for, as "GET /path", and the test had no answer for. */
  unanswered: string[];
  /** Why a part of it could not be drawn; what took its place has no English either. */
  crashed: string[];
}

/** The page at `path`, when all that it asked for is there. Modules are loaded afresh after the language is chosen, as
 * they are in a browser: what one of them read when it was loaded for another test would be English. */
export async function seenAt(path: string, answers: Answers, allowed: readonly string[] = []): Promise<Seen> {
  vi.resetModules();
  try {
    const [{ speakIn }, { pseudo }, en] = await Promise.all([
      import("@/words/shown"),
      import("./pseudo"),
      import("@/words/en"),
    ]);
    speakIn(pseudo(en));
    const [{ openPage, STANDING }, { leaks }] = await Promise.all([import("./app"), import("./leaks")]);
    const { client, asked, crashes } = await openPage(path, answers);
    // Charts and tabs are loaded when they are needed, and ask then.
    await waitFor(() => expect(client.isFetching()).toBe(0));
    await act(() => new Promise((done) => setTimeout(done, 0)));
    await waitFor(() => expect(client.isFetching()).toBe(0));
    const names = new Set(asked.map(({ method, url }) => `${method} ${url.split("?")[0]}`));
    return {
      english: leaks([STANDING, answers, GIVEN], allowed),
      crashed: crashes.map(String),
      unanswered: [...names].filter((name) => !(name in STANDING || name in answers)).sort(),
    };
  } finally {
    cleanup();
    // Nor has a later test what was loaded in this language.
    vi.resetModules();
  }
}

/** The texts of the page at `path` that stay English; a page that cannot be drawn has an error of ours, too. */
export async function englishAt(path: string, answers: Answers, allowed: readonly string[] = []): Promise<string[]> {
  const { english, crashed } = await seenAt(path, answers, allowed);
  return [...english, ...crashed];
}
