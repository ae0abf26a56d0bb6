/** Hours and days computed again by operators of the platform: runs with their progress, newest first. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { words } from "@/words/platform";
import { api } from "./api-client";

const say = words.backfillForm;

export type Backfill = components["schemas"]["BackfillAnswer"];
export type BackfillJob = components["schemas"]["BackfillRequest"]["job"];

/** A run under way moves within seconds; otherwise one is made by the hour, ms. */
const ACTIVE_MS = 2_000;
const IDLE_MS = 30_000;
/** How many of the newest are shown. */
const RUNS_MAX = 50;
/** The longest range of one request, s. */
export const BACKFILL_MAX_S = 7 * 86_400;

export const isActive = (run: Pick<Backfill, "state">): boolean => run.state === "queued" || run.state === "running";

export const useBackfills = () =>
  useQuery({
    queryKey: ["page", "platform", "backfills"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operator/analytics/backfills", { query: { page_size: RUNS_MAX }, signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(isActive) ? ACTIVE_MS : IDLE_MS),
  });

/** How much of a run is done, 0 to 1; null where it does not say. */
export function doneShare({ state, progress }: Pick<Backfill, "state" | "progress">): number | null {
  if (state === "succeeded") return 1;
  if (progress.done === undefined || !progress.total) return null;
  return Math.min(1, progress.done / progress.total);
}

/** Why a range cannot be asked for; empty when it can. */
export function rangeFault(from: number, to: number, now: number): string {
  if (Number.isNaN(from) || Number.isNaN(to)) return say.sayFromWhen;
  if (to <= from) return say.endAfterBeginning;
  if (to - from > BACKFILL_MAX_S * 1000) return say.daysAtMost(BACKFILL_MAX_S / 86_400);
  if (from > now) return say.beginningInThePast;
  return "";
}

/** A moment as a field for local date and time takes it. */
export const localField = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
