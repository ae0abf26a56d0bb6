/** Page read models: one request per page, each part with its own status and age. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { type AddressOf, type AnswerOf, asked, type BlanksOf, filled, type QueryOf } from "./addresses";
import { readChanged } from "./api-client";
import { younger } from "./page-ages";
import { isRefusal } from "./problem";

type NameOf<P> = P extends `/console/api/pages/${infer Name}` ? Name : never;

/** A page's name with the blanks of its address, as the OpenAPI document has it: `topic/{cluster_id}/{topic}`. */
export type PageName = NameOf<AddressOf<"get">>;

type AddressOfPage<N extends PageName> = Extract<`/console/api/pages/${N}`, AddressOf<"get">>;

/** What the server answers for a page. */
export type PageModel<N extends PageName> = AnswerOf<"get", AddressOfPage<N>>;
/** What fills the blanks of a page's address. */
export type PageAddress<N extends PageName> = BlanksOf<"get", AddressOfPage<N>>;
/** What a page with a list is asked for: search, order, page, filters. */
export type PageAsk<N extends PageName> = QueryOf<AddressOfPage<N>>;

/** One part of any page: its status, when it was true, why it is stale or missing, its data. */
export type Part = Omit<components["schemas"]["PlanPart"], "data"> & { data: unknown };
export interface Page<P> {
  parts: P;
}

/** How often a visible page asks again when no event arrives, ms. */
export const REFRESH_MS = 10_000;

/** How often to ask again, ms; may depend on what the page says now. */
type Pace<N extends PageName> = number | false | ((page: PageModel<N> | undefined) => number | false);

export function pageQuery<N extends PageName>(
  name: N,
  address: PageAddress<N>,
  pace: Pace<N> = REFRESH_MS,
  ask?: PageAsk<N>,
) {
  const path = filled(name, address);
  const what = asked(ask);
  return queryOptions({
    queryKey: ["page", ...path.split("/"), ...(what ? [what] : [])],
    queryFn: ({ client, queryKey, signal }) =>
      readPage(`/console/api/pages/${path}${what}`, client.getQueryData<PageModel<N> & Tagged>(queryKey), signal),
    refetchInterval: ({ state }) => {
      // What was there once may come back: a topic of that name, a right.
      if (state.data === undefined && isRefusal(state)) return false;
      return typeof pace === "function" ? pace(state.data) : pace;
    },
  });
}

/** What is kept of an answer beside what it says: the tag by which the server knows whether it still says the same. */
interface Tagged {
  tag?: string;
}

const NOTHING_KNOWN = "The server says that nothing has changed, but nothing is known.";

/** A list of `/api/v1` that has a tag; `kept` is what was answered for the same path before. */
export async function readList<M>(path: string, kept: (M & Tagged) | undefined, signal: AbortSignal) {
  const answer = await readChanged<M>(path, { ifNoneMatch: kept?.tag, signal });
  if (!("ages" in answer)) return { ...answer.body, tag: answer.tag };
  if (kept === undefined) throw new Error(NOTHING_KNOWN);
  return kept;
}

async function readPage<M>(path: string, kept: (M & Tagged) | undefined, signal: AbortSignal): Promise<M & Tagged> {
  const answer = await readChanged<M>(path, { ifNoneMatch: kept?.tag, signal });
  if (!("ages" in answer)) return { ...answer.body, tag: answer.tag };
  if (kept === undefined) throw new Error(NOTHING_KNOWN);
  // The tag may be another one: of what the page was made of this time, though it says the same.
  return { ...younger(kept, answer.ages), tag: answer.tag ?? kept.tag };
}

export function usePage<N extends PageName>(name: N, address: PageAddress<N>, pace: Pace<N> = REFRESH_MS) {
  return useQuery(pageQuery(name, address, pace));
}

/** A page of a list. While another page, order or search of the same list is awaited, the last one stays. */
export function usePageOfList<N extends PageName>(
  name: N,
  address: PageAddress<N>,
  ask: PageAsk<N>,
  pace: Pace<N> = REFRESH_MS,
) {
  const path = filled(name, address);
  return useQuery({
    ...pageQuery(name, address, pace, ask),
    placeholderData: (before, query) => (query && isOf(query.queryKey, path) ? before : undefined),
  });
}

const isOf = (key: readonly string[], path: string) => path.split("/").every((part, at) => key[at + 1] === part);
