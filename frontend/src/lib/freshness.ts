/** Whether what a page shows is still true: since when it is not known to be. */
import { type Query, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { isRefusal } from "./problem";

/** A read that is asked again each so many ms is late after that many times as long without an answer. */
const LATE_AFTER = 3;
const LOOK_MS = 1_000;

/** When the oldest of these reads was answered that failed since, is paused, or is late; null when all are fresh. */
export function staleSince(queries: readonly Query[], now: number): number | null {
  const stale = queries.filter((query) => query.state.data !== undefined && isStale(query, now));
  return stale.length === 0 ? null : Math.min(...stale.map((query) => query.state.dataUpdatedAt));
}

function isStale(query: Query, now: number): boolean {
  const { state } = query;
  // That it is gone, or not for this person any more, is no old answer but the newest: the page says so itself.
  if (isRefusal(state)) return false;
  if (state.status === "error" || state.fetchFailureCount > 0 || state.fetchStatus === "paused") return true;
  return query.observers.some(({ options: { refetchInterval } }) => {
    const pace = typeof refetchInterval === "function" ? refetchInterval(query) : refetchInterval;
    return typeof pace === "number" && now - state.dataUpdatedAt > LATE_AFTER * pace;
  });
}

/** The same of all page reads that are on the screen, looked at each second. */
export function useStaleSince(): number | null {
  const client = useQueryClient();
  const [since, setSince] = useState<number | null>(null);
  useEffect(() => {
    const look = () => {
      const shown = client.getQueryCache().findAll({ queryKey: ["page"], type: "active" });
      setSince(staleSince(shown, Date.now()));
    };
    const timer = window.setInterval(look, LOOK_MS);
    return () => window.clearInterval(timer);
  }, [client]);
  return since;
}
