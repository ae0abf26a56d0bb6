/** Page read models: one request per page, each part with its own status and age. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { isRefusal } from "./problem";

export interface Part<T> {
  status: "ok" | "stale" | "unavailable";
  /** When the data was true, RFC 3339. */
  as_of: string | null;
  /** Why the part is stale or missing. */
  reason?: string | null;
  data: T | null;
}

export interface Page<P> {
  parts: { [K in keyof P]: Part<P[K]> };
}

/** How often a visible page asks again when no event arrives, ms. */
export const REFRESH_MS = 10_000;

/** How often to ask again, ms; may depend on what the page says now. */
type Pace<P> = number | false | ((page: Page<P> | undefined) => number | false);

export function pageQuery<P>(path: string, pace: Pace<P> = REFRESH_MS) {
  return queryOptions({
    queryKey: ["page", ...path.split("/")],
    queryFn: ({ signal }) => api.get<Page<P>>(`/console/api/pages/${path}`, signal),
    refetchInterval: ({ state }) => {
      if (isRefusal(state)) return false;
      return typeof pace === "function" ? pace(state.data) : pace;
    },
  });
}

export function usePage<P>(path: string, pace: Pace<P> = REFRESH_MS) {
  return useQuery(pageQuery<P>(path, pace));
}
