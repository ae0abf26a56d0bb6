/** What every page does while its answer is late, failed, refused, or has a part that is missing or old. */
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { heading, openPage } from "./app";
import { englishAt } from "./other-language";
import { type Answers, PENDING, Refusal, stale, unavailable } from "./server";

interface PageUnderTest {
  path: string;
  /** What follows `/console/api/pages/`. */
  page: string;
  title: string;
  /** Every part as it is when all is well. */
  parts: Record<string, { data: unknown }>;
  /** The part that fails here, and a text that is shown when it is there. */
  part: string;
  shows: string;
  /** A page about one thing gives way to the refusal as a whole. */
  refusable?: boolean;
  more?: Answers;
}

export function describePageStates({
  path,
  page,
  title,
  parts,
  part,
  shows,
  refusable = true,
  more = {},
}: PageUnderTest): void {
  const url = `GET /console/api/pages/${page}`;
  const open = (answer: unknown) => openPage(path, { ...more, [url]: answer });
  const with_ = (changed: unknown) => ({ parts: { ...parts, [part]: changed } });

  describe(`${title}: states of the page`, () => {
    it("shows placeholders while the answer is awaited", async () => {
      await open(PENDING);
      expect((await screen.findAllByLabelText("Loading")).length).toBeGreaterThan(0);
      expect(screen.queryByText(shows)).toBeNull();
    });

    it("shows a failed answer with its request id, and asks again on request", async () => {
      const { asked } = await open(new Refusal(500, "The request cannot be served", "The service failed on its side."));
      expect((await screen.findAllByText("The service failed on its side.")).length).toBeGreaterThan(0);
      expect(screen.getAllByText(/request rq_test/).length).toBeGreaterThan(0);
      const before = asked.filter((one) => url.endsWith(one.url)).length;
      const again = screen.getAllByRole("button", { name: "Try again" })[0];
      if (!again) throw new Error("nothing to press");
      fireEvent.click(again);
      await waitFor(() => expect(asked.filter((one) => url.endsWith(one.url)).length).toBe(before + 1));
    });

    it("says why a part is missing and keeps the rest", async () => {
      await open(with_(unavailable("The cluster did not answer in time.")));
      expect(
        (await screen.findAllByText(/The cluster did not answer in time\. The rest of the page is not affected/))
          .length,
      ).toBeGreaterThan(0);
      expect(heading()).toBe(title);
      expect(screen.queryByText(shows)).toBeNull();
    });

    it("shows old data with its age and the reason", async () => {
      await open(with_(stale(parts[part]?.data, "The brokers are away.")));
      expect((await screen.findAllByText(shows)).length).toBeGreaterThan(0);
      expect(screen.getAllByText(/Shown as it was.*: The brokers are away\./).length).toBeGreaterThan(0);
    });

    it("is whole in another language", async () => {
      expect(await englishAt(path, { ...more, [url]: { parts } })).toEqual([]);
    });

    if (!refusable) return;
    it.each([
      [403, "This needs a stronger role or scope"],
      [404, "Not found"],
    ])("gives way to a refusal (%i), said once", async (status, text) => {
      const { asked } = await open(new Refusal(status, text, "It is not for you."));
      await waitFor(() => expect(heading()).toBe(text));
      expect(screen.getByRole("alert").textContent).toContain("It is not for you.");
      expect(screen.getByRole("link", { name: "Go to the overview" })).toBeTruthy();
      expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
      expect(asked.filter((one) => url.endsWith(one.url))).toHaveLength(1);
    });
  });
}
