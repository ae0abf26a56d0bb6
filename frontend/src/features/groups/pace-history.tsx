import { Select } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { AsOf } from "@/components/as-of";
import { Card, Lines } from "@/components/card";
import { PaceChart } from "@/components/charts/pace-chart";
import { Empty } from "@/components/empty";
import { ProblemPanel } from "@/components/problem-panel";
import type { components } from "@/generated/api";
import { api } from "@/lib/api-client";
import { type Point, withGaps } from "@/lib/gaps";
import { RANGES, type Range } from "@/lib/search";
import { words } from "@/words/groups";
import { formatRate } from "./pace";

const say = words.paceHistory;

type PacePoint = components["schemas"]["PacePoint"];
type Measured = "produce_records_per_s" | "consume_records_per_s" | "oldest_unread_expires_in_s";

/** Runs take minutes; asking more often shows nothing new, ms. */
const REFRESH_MS = 30_000;

const paceQuery = (clusterId: string, group: string, range: Range) =>
  queryOptions({
    queryKey: ["analytics", clusterId, "pace", range, group],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/pace/{group}", {
        blanks: { cluster_id: clusterId, group },
        query: { from: new Date(Date.now() - RANGES[range] * 1000).toISOString() },
        signal,
      }),
    refetchInterval: REFRESH_MS,
  });

const lineOf = (points: PacePoint[], value: Measured): Point[] =>
  withGaps(points.map((point) => [Date.parse(point.ts), point[value]]));

interface PaceHistoryProps {
  clusterId: string;
  group: string;
  range: Range;
  /** The topic that is in trouble: shown first. */
  worst: string | null | undefined;
}

/** Produced against consumed on one topic of a group, with the time that retention leaves for what is unread. */
export function PaceHistory({ clusterId, group, range, worst }: PaceHistoryProps) {
  const query = useQuery(paceQuery(clusterId, group, range));
  const [chosen, setChosen] = useState<string | null>(null);
  const data = query.data;
  const topics = useMemo(() => [...new Set((data?.data ?? []).map((point) => point.topic))].sort(), [data]);
  const topic = [chosen, worst].find((name) => name && topics.includes(name)) ?? topics[0];
  const lines = useMemo(() => {
    const points = (data?.data ?? []).filter((point) => point.topic === topic);
    return {
      produced: lineOf(points, "produce_records_per_s"),
      consumed: lineOf(points, "consume_records_per_s"),
      horizon: lineOf(points, "oldest_unread_expires_in_s"),
    };
  }, [data, topic]);
  let body;
  if (query.isPending) body = <Lines rows={6} />;
  else if (!data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (topic === undefined) {
    body = <Empty title={say.noPaceYet}>{say.measuredOverMinutes}</Empty>;
  } else {
    body = (
      <div className="ps-card-body">
        <PaceChart label={say.onTopicOverTime(topic)} formatRate={formatRate} {...lines} />
      </div>
    );
  }
  return (
    <Card
      title={say.producedAgainstConsumed}
      aside={
        <>
          <span style={{ fontSize: "0.75rem" }}>
            <AsOf at={data?.as_of} staleAfter={data?.stale_after} />
          </span>
          {topics.length > 1 && (
            <Select
              size="xs"
              w={180}
              aria-label={say.topicOfTheChart}
              data={topics}
              value={topic ?? null}
              onChange={setChosen}
              allowDeselect={false}
              searchable
            />
          )}
        </>
      }
    >
      {body}
    </Card>
  );
}
