/** Page read models: one request per page, each part with its own status and age. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { components, paths } from "@/generated/api";
import { api } from "./api-client";
import { isRefusal } from "./problem";

type NameOf<P> = P extends `/console/api/pages/${infer Name}` ? Name : never;

/** A page's name with the blanks of its address, as the OpenAPI document has it: `topic/{cluster_id}/{topic}`. */
export type PageName = NameOf<keyof paths>;

type PathOf<N extends PageName> = paths[Extract<`/console/api/pages/${N}`, keyof paths>];
type BodyOf<P> = P extends { get: { responses: { 200: { content: { "application/json": infer Body } } } } }
  ? Body
  : never;
type BlanksOf<P> = P extends { get: { parameters: { path: infer Blanks } } } ? Blanks : Record<never, never>;

/** What the server answers for a page. */
export type PageModel<N extends PageName> = BodyOf<PathOf<N>>;
/** What fills the blanks of a page's address. */
export type PageAddress<N extends PageName> = BlanksOf<PathOf<N>>;

/** One part of any page: its status, when it was true, why it is stale or missing, its data. */
export type Part = Omit<components["schemas"]["PlanPart"], "data"> & { data: unknown };
export interface Page<P> {
  parts: P;
}

/** `topic/{cluster_id}/{topic}` with its blanks filled: names of topics and groups may hold any character. */
export function pagePath<N extends PageName>(name: N, address: PageAddress<N>): string {
  const blanks = address as Record<string, string>;
  return name.replace(/{(\w+)}/g, (_, blank: string) => encodeURIComponent(blanks[blank] ?? ""));
}

/** How often a visible page asks again when no event arrives, ms. */
export const REFRESH_MS = 10_000;

/** How often to ask again, ms; may depend on what the page says now. */
type Pace<N extends PageName> = number | false | ((page: PageModel<N> | undefined) => number | false);

export function pageQuery<N extends PageName>(name: N, address: PageAddress<N>, pace: Pace<N> = REFRESH_MS) {
  const path = pagePath(name, address);
  return queryOptions({
    queryKey: ["page", ...path.split("/")],
    queryFn: ({ signal }) => api.get<PageModel<N>>(`/console/api/pages/${path}`, signal),
    refetchInterval: ({ state }) => {
      if (isRefusal(state)) return false;
      return typeof pace === "function" ? pace(state.data) : pace;
    },
  });
}

export function usePage<N extends PageName>(name: N, address: PageAddress<N>, pace: Pace<N> = REFRESH_MS) {
  return useQuery(pageQuery(name, address, pace));
}
