/** What happened: how it is read, which sorts there are, and where an event leads. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { words } from "@/words/timeline";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import { isRefusal } from "./problem";
import { EVENT_RANGES, type EventGroup, type EventRange } from "./search";
import type { TimelineEvent, TimelineKind } from "./types";

const PAGE_SIZE = 100;

/** The sort of events that each kind is listed with. */
const GROUPS: Record<TimelineKind, EventGroup> = {
  "cluster-unreachable": "brokers",
  "cluster-answers": "brokers",
  "controller-changed": "brokers",
  "broker-down": "brokers",
  "broker-up": "brokers",
  "partitions-offline": "partitions",
  "partitions-online": "partitions",
  "leader-changed": "partitions",
  "isr-shrunk": "partitions",
  "isr-grew": "partitions",
  "replicas-changed": "partitions",
  "partitions-added": "topics",
  "topic-created": "topics",
  "topic-deleted": "topics",
  "config-changed": "topics",
  deployment: "deployments",
  "operation-began": "operations",
  "operation-ended": "operations",
  "operation-undone": "operations",
  "alert-fired": "alerts",
  "alert-resolved": "alerts",
};
/** A kind without a name does not pass the type check. */
const NAMES: Record<TimelineKind, string> = words;

export const kindWord = (kind: TimelineKind): string => NAMES[kind];
const kindsOf = (group: EventGroup): string =>
  Object.entries(GROUPS)
    .filter(([, one]) => one === group)
    .map(([kind]) => kind)
    .join(",");

/** Kinds that charts mark: an operation once, when it has ended. */
export const ofCharts = Object.keys(GROUPS)
  .filter((kind) => kind !== "operation-began")
  .join(",");

export interface EventFilters {
  last?: EventRange;
  sort?: EventGroup;
  subject?: string;
}
export const DEFAULT_RANGE: EventRange = "24h";

/** The filters as the REST API takes them; the range is counted from `now`. */
export const asQuery = ({ last = DEFAULT_RANGE, sort, subject }: EventFilters, now = Date.now()) => ({
  kind: sort && kindsOf(sort),
  subject: subject ? [subject] : undefined,
  from: new Date(now - EVENT_RANGES[last] * 1000).toISOString(),
});

export function useTimeline(clusterId: string, filters: EventFilters) {
  return useInfiniteQuery({
    queryKey: ["page", "timeline", clusterId, filters],
    queryFn: ({ pageParam, signal }) =>
      api.get("/api/v1/timeline", {
        query: {
          ...asQuery(filters),
          cluster_id: clusterId,
          page_size: PAGE_SIZE,
          cursor: pageParam || undefined,
        },
        signal,
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.page.next ?? undefined,
    refetchInterval: ({ state }) => (isRefusal(state) || (state.data?.pages.length ?? 0) > 1 ? false : REFRESH_MS),
  });
}

/** What an event is about, where it has a page: an area and a name. */
export function subjectOf({ subject }: Pick<TimelineEvent, "subject">): { area: string; name: string } | null {
  const cut = subject.indexOf("/");
  return cut > 0 && cut < subject.length - 1 ? { area: subject.slice(0, cut), name: subject.slice(cut + 1) } : null;
}
