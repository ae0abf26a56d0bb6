/** What happened in the time that a chart shows: read once for it, and put together where marks would touch. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { isRefusal } from "./problem";
import { ofCharts } from "./timeline";
import type { TimelineEvent } from "./types";

/** What a chart is about: its cluster, and topics or groups of it, as `topic/orders`. */
export interface ChartSubject {
  clusterId: string;
  /** Beside what is about the cluster and its brokers, which is on every chart; none: all of the cluster. */
  subjects?: string[];
}
export interface ChartRange {
  from: number;
  to: number;
}

/** What every chart has read, for who has changed it. */
export const CHART_EVENTS = { queryKey: ["chart-events"] };

/** How many one chart marks; of more, the newest. */
const MARKED_MAX = 100;
const MINUTE_MS = 60_000;
const REFRESH_MS = 30_000;
/** Marks closer than this share of the width are drawn as one. */
const APART = 1 / 60;
/** Subjects that one question may name; the cluster itself is one. */
const SUBJECTS_MAX = 10;

/** The time from the first to the last point of all lines; null without points. */
export function rangeOf(series: { points: [number, number | null][] }[]): ChartRange | null {
  let from = Infinity;
  let to = -Infinity;
  for (const { points } of series) {
    for (const [at] of points) {
      if (at < from) from = at;
      if (at > to) to = at;
    }
  }
  return from < to ? { from, to } : null;
}

/** Whole minutes, so that a chart that slides does not ask anew at each of its points. */
export function askedFor({ clusterId, subjects }: ChartSubject, { from, to }: ChartRange) {
  return {
    cluster_id: clusterId,
    kind: ofCharts,
    subject: subjects && ["cluster", ...subjects].slice(0, SUBJECTS_MAX),
    from: new Date(Math.floor(from / MINUTE_MS) * MINUTE_MS).toISOString(),
    to: new Date((Math.floor(to / MINUTE_MS) + 1) * MINUTE_MS).toISOString(),
    page_size: MARKED_MAX,
  };
}

export function useChartEvents(about: ChartSubject | undefined, range: ChartRange | null, shown: boolean) {
  const query = about && range ? askedFor(about, range) : undefined;
  return useQuery({
    queryKey: [...CHART_EVENTS.queryKey, query],
    queryFn: ({ signal }) => api.get("/api/v1/timeline", { query, signal }),
    enabled: query !== undefined && shown,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
    staleTime: REFRESH_MS / 2,
  });
}

export interface ChartMark {
  at: number;
  tone: TimelineEvent["tone"];
  /** As the list below the chart numbers them: "1", or "2–4" of several that are close to each other. */
  label: string;
}

const HARM: Record<TimelineEvent["tone"], number> = { bad: 3, warn: 2, neutral: 1, good: 0 };

/** Vertical marks of events, newest first as they are listed; those outside of the range are not drawn. */
export function marksOf(events: readonly TimelineEvent[], { from, to }: ChartRange): ChartMark[] {
  const apart = (to - from) * APART;
  const marks: { at: number; tone: TimelineEvent["tone"]; first: number; last: number }[] = [];
  events.forEach((event, index) => {
    const at = Date.parse(event.at);
    if (!(at >= from && at <= to)) return;
    const near = marks.at(-1);
    if (near && near.at - at < apart) {
      near.last = index + 1;
      if (HARM[event.tone] > HARM[near.tone]) near.tone = event.tone;
    } else marks.push({ at, tone: event.tone, first: index + 1, last: index + 1 });
  });
  return marks.map(({ at, tone, first, last }) => ({
    at,
    tone,
    label: first === last ? String(first) : `${first}–${last}`,
  }));
}
