/** What a person has marked in the tenant that they act for. It is the server's to keep. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./api-client";
import type { BodyOf } from "./addresses";

const KEY = ["favourites"];
const FRESH_MS = 60_000;

type Choice = BodyOf<"/console/api/favourites">;
export type Favourite = Omit<Choice, "is_favourite">;

const isSame = (one: Favourite, other: Favourite) =>
  one.kind === other.kind && one.cluster_id === other.cluster_id && one.name === other.name;

/** All of them, oldest first; undefined until they are known. */
export function useFavourites(): Favourite[] | undefined {
  const query = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => api.get("/console/api/favourites", { signal }),
    staleTime: FRESH_MS,
  });
  return query.data?.data;
}

/** Marks one or takes the mark away: it shows at once, and is taken back when the server refuses it. */
export function useSetFavourite() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Choice) => api.post("/console/api/favourites", { body }),
    onMutate: async ({ is_favourite, ...about }) => {
      await client.cancelQueries({ queryKey: KEY });
      const before = client.getQueryData<{ data: Favourite[] }>(KEY);
      const others = before?.data.filter((one) => !isSame(one, about)) ?? [];
      if (before) client.setQueryData(KEY, { data: is_favourite ? [...others, about] : others });
      return { before };
    },
    onError: (_error, _choice, kept) => client.setQueryData(KEY, kept?.before),
    onSuccess: (answer, { kind }) => {
      client.setQueryData(KEY, answer);
      // Lists have them first.
      void client.invalidateQueries({ queryKey: ["page", `${kind}s`] });
    },
  });
}

export const isFavourite = (all: Favourite[] | undefined, one: Favourite): boolean =>
  all?.some((each) => isSame(each, one)) ?? false;

/** What a list is asked for: favourites alone, else before the others until somebody chooses an order. */
export function favouritesAsked(
  all: Favourite[] | undefined,
  kind: Favourite["kind"],
  clusterId: string,
  search: { starred?: true; sort?: string },
): "first" | "only" | undefined {
  if (search.starred) return "only";
  const isAny = all?.some((one) => one.kind === kind && one.cluster_id === clusterId) ?? false;
  return isAny && search.sort === undefined ? "first" : undefined;
}
