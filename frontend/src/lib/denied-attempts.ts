/** What brokers denied, by their audit logs: asked for by somebody who looks, never by itself. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

export type DeniedPage = components["schemas"]["DeniedAttemptPage"];
export type DeniedAttempt = DeniedPage["data"][number];
export type AuditedBroker = DeniedPage["brokers"][number];

const ATTEMPTS_A_PAGE = 100;

/** `again` asks every broker's host anew, from the newest on. */
export function useDeniedAttempts(clusterId: string) {
  const client = useQueryClient();
  const queryKey = ["denied-attempts", clusterId];
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api.get("/api/v1/clusters/{cluster_id}/access/denials", {
        blanks: { cluster_id: clusterId },
        query: { cursor: pageParam, page_size: ATTEMPTS_A_PAGE },
        signal,
      }),
    getNextPageParam: (last) => last.page.next ?? undefined,
    // Each look takes the hosts' time: they are asked when somebody says so.
    retry: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const again = () => {
    client.setQueryData<typeof query.data>(
      queryKey,
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
  };
  return { query, again };
}
