/** A broker's log as its host's agent reads it: asked for by somebody who looks, never by itself. */
import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";
import type { LOG_LEVELS } from "./search";

export type LogPage = components["schemas"]["BrokerLogPage"];
export type LogLine = LogPage["data"][number];
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lines that one look brings at most, and how many looks back a page keeps. */
export const LINES_A_LOOK = 200;
export const LOOKS_MAX = 20;

type Pages = InfiniteData<LogPage, string | undefined>;

/** The newest look first. `again` looks at the end anew and forgets what was before. */
export function useBrokerLog(clusterId: string, broker: number, level: LogLevel | undefined) {
  const client = useQueryClient();
  const queryKey = ["broker-log", clusterId, broker, level];
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      api.get("/api/v1/clusters/{cluster_id}/brokers/{broker_id}/log", {
        blanks: { cluster_id: clusterId, broker_id: String(broker) },
        query: { level, cursor: pageParam, page_size: LINES_A_LOOK },
        signal,
      }),
    getNextPageParam: (last, pages) => (pages.length >= LOOKS_MAX ? undefined : (last.page.next ?? undefined)),
    // Each look takes the host's time: it is asked when somebody says so.
    retry: false,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const again = () => {
    client.setQueryData<Pages>(
      queryKey,
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void query.refetch();
  };
  return { query, again };
}

/** All lines that were looked at, in their order in the log. */
export const linesOf = (pages: LogPage[]): LogLine[] => [...pages].reverse().flatMap((page) => page.data);
