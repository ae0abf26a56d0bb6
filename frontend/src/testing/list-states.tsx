/** What every list of the REST API does while its answer is late, failed, refused, or old. */
import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { openPage } from "./app";
import { englishAt } from "./other-language";
import { type Answers, PENDING, Refusal } from "./server";

interface ListUnderTest {
  path: string;
  /** "GET /api/v1/…" */
  url: string;
  answer: unknown;
  /** A text that is shown when the answer is there. */
  shows: string | RegExp;
  more?: Answers;
}

export function describeListStates({ path, url, answer, shows, more = {} }: ListUnderTest): void {
  const open = (given: unknown) => openPage(path, { ...more, [url]: given });
  const times = (asked: { method: string; url: string }[]) =>
    asked.filter((one) => `${one.method} ${one.url.split("?")[0]}` === url).length;

  describe(`${url}: states of the list`, () => {
    it("shows placeholders while the answer is awaited", async () => {
      await open(PENDING);
      expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
      expect(screen.queryByText(shows)).toBeNull();
    });

    it("shows a failed answer with its request id, and asks again on request", async () => {
      const { asked } = await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
      expect((await screen.findAllByText("The service failed on its side.")).length).toBeGreaterThan(0);
      const before = times(asked);
      const again = screen.getAllByRole("button", { name: "Try again" })[0];
      if (!again) throw new Error("nothing to press");
      fireEvent.click(again);
      await waitFor(() => expect(times(asked)).toBeGreaterThan(before));
    });

    it("says a refusal in the server's words, and does not offer to ask again", async () => {
      await open(new Refusal(403, "This needs a stronger role or scope", "It is not for you."));
      expect((await screen.findAllByText(/It is not for you\./)).length).toBeGreaterThan(0);
      expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
      expect(screen.queryByText(shows)).toBeNull();
    });

    it("is whole in another language", async () => {
      expect(await englishAt(path, { ...more, [url]: answer })).toEqual([]);
    });

    it("keeps what it had when it cannot be read again, and says so", async () => {
      let given: unknown = answer;
      const { client } = await openPage(path, { ...more, [url]: () => given });
      expect((await screen.findAllByText(shows)).length).toBeGreaterThan(0);
      given = new Refusal(503, "It cannot be served", "Later.");
      await act(() => client.invalidateQueries({ queryKey: ["page"] }));
      expect((await screen.findAllByText(/Shown as it was/)).length).toBeGreaterThan(0);
      expect(screen.getAllByText(shows).length).toBeGreaterThan(0);
    });
  });
}
