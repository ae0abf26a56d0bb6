import { Button, SegmentedControl, Select } from "@mantine/core";
import { IconFlag, IconTimelineEvent } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { EventList } from "@/components/event-list";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { SearchBox } from "@/components/search-box";
import { formatExact, formatInteger, toDate } from "@/lib/format";
import { isRefusal } from "@/lib/problem";
import { EVENT_RANGES, type EventGroup, type EventRange } from "@/lib/search";
import { useSession } from "@/lib/session";
import { DEFAULT_RANGE, useTimeline } from "@/lib/timeline";
import { useCluster } from "@/lib/use-clusters";
import { DeploymentForm } from "./deployment-form";
import { RemoveMark } from "./remove-mark";

const route = getRouteApi("/app/clusters/$clusterId/events");

const SORTS: { value: EventGroup; label: string }[] = [
  { value: "brokers", label: "Brokers and controller" },
  { value: "partitions", label: "Leaders and in-sync replicas" },
  { value: "topics", label: "Topics and configuration" },
  { value: "operations", label: "Operations" },
  { value: "alerts", label: "Alerts" },
  { value: "deployments", label: "Deployments" },
];

/** What happened to a cluster, newest first. */
export function EventsPage() {
  const { clusterId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const known = useCluster(clusterId);
  const { data: session } = useSession();
  const [marking, setMarking] = useState(false);
  const query = useTimeline(clusterId, search);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  if (isRefusal(query)) return <Refused error={query.error} />;
  const mayMark = session?.can_write === true;
  const rows = query.data?.pages.flatMap((page) => page.data) ?? [];
  const filtered = search.sort !== undefined || search.subject !== undefined;
  let body;
  if (query.isPending) body = <Lines rows={8} />;
  else if (!query.data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (rows.length > 0) {
    body = <EventList events={rows} action={(event) => event.removable && <RemoveMark event={event} />} />;
  } else {
    body = <NoEvents filtered={filtered} onClear={() => change({ sort: undefined, subject: undefined })} />;
  }
  return (
    <>
      <PageHeader
        title={known ? `Events of ${known.name}` : "Events"}
        sub="What happened: brokers, leaders, in-sync replicas, topics, operations, alerts and deployments, newest first."
        actions={
          mayMark && (
            <Button leftSection={<IconFlag size={15} />} onClick={() => setMarking(true)}>
              Mark a deployment
            </Button>
          )
        }
      />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.subject ?? ""}
            label="topic/…, group/… or broker/…"
            onChange={(subject) => change({ subject: subject || undefined })}
          />
          <Select
            size="xs"
            w={210}
            aria-label="Sort of events"
            placeholder="Every sort of event"
            clearable
            data={SORTS}
            value={search.sort ?? null}
            onChange={(sort) => change({ sort: (sort as EventGroup | null) ?? undefined })}
          />
          <SegmentedControl
            size="xs"
            aria-label="How far back"
            data={Object.keys(EVENT_RANGES)}
            value={search.last ?? DEFAULT_RANGE}
            onChange={(last) => change({ last: last === DEFAULT_RANGE ? undefined : (last as EventRange) })}
          />
        </div>
        {query.isError && query.data && (
          <div className="ps-card-body">
            <Notice tone="warn">Shown as it was: it could not be read again.</Notice>
          </div>
        )}
        {body}
        {query.data && <Foot query={query} count={rows.length} />}
      </Card>
      {marking && <DeploymentForm clusterId={clusterId} onClose={() => setMarking(false)} />}
    </>
  );
}

function Foot({ query, count }: { query: ReturnType<typeof useTimeline>; count: number }) {
  const kept = toDate(query.data?.pages[0]?.kept_from);
  return (
    <div className="ps-toolbar-foot">
      <span className="ps-muted" role="status">
        {formatInteger(count)} {count === 1 ? "event" : "events"}
        {query.hasNextPage ? " so far" : ""}
        {kept && <span title={formatExact(kept)}> · kept since {kept.toLocaleDateString()}</span>}
      </span>
      {query.hasNextPage && (
        <Button
          variant="default"
          ml="auto"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Load older
        </Button>
      )}
    </div>
  );
}

function NoEvents({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <Empty
        title="No event matches"
        action={
          <Button variant="default" onClick={onClear}>
            Clear the filters
          </Button>
        }
      >
        A subject is compared as a whole: topic/orders, group/billing, broker/2, or cluster for the cluster and its
        brokers.
      </Empty>
    );
  }
  return (
    <Empty icon={<IconTimelineEvent size={20} />} title="Nothing happened in this time">
      The cluster is compared with its last reading every few seconds. Choose a longer time above.
    </Empty>
  );
}
