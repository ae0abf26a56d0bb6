/** A page in a language made by a machine: what is on the screen in English came neither from the catalogue nor from the
 * server's answers, and would stay English in every other language. */
import { act, cleanup, waitFor } from "@testing-library/react";
import { expect } from "vitest";
import * as en from "@/words/en";
import { speakIn } from "@/words/shown";
import { openPage, STANDING } from "./app";
import { leaks } from "./leaks";
import { pseudo } from "./pseudo";
import type { Answers } from "./server";

/** What no language changes beside what the answers hold: what the frame asks for, and a refusal of the test's own server. */
const GIVEN = ["rq_test", "The test has no answer"];

/** The texts of the page at `path` that stay English. */
export async function englishAt(path: string, answers: Answers, allowed: readonly string[] = []): Promise<string[]> {
  speakIn(pseudo(en));
  try {
    const { client } = await openPage(path, answers);
    // Charts and tabs are loaded when they are needed, and ask then.
    await waitFor(() => expect(client.isFetching()).toBe(0));
    await act(() => new Promise((done) => setTimeout(done, 0)));
    await waitFor(() => expect(client.isFetching()).toBe(0));
    return leaks([STANDING, answers, GIVEN], allowed);
  } finally {
    speakIn(null);
    cleanup();
  }
}
