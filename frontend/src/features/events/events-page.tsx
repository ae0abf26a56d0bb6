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
import { formatExact, toDate } from "@/lib/format";
import { isRefusal } from "@/lib/problem";
import { EVENT_RANGES, type EventGroup, type EventRange } from "@/lib/search";
import { useSession } from "@/lib/session";
import { DEFAULT_RANGE, useTimeline } from "@/lib/timeline";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/events";
import { DeploymentForm } from "./deployment-form";
import { RemoveMark } from "./remove-mark";

const say = words.eventsPage;

const route = getRouteApi("/app/clusters/$clusterId/events");

const SORTS: { value: EventGroup; label: string }[] = [
  { value: "brokers", label: say.brokersAndController },
  { value: "partitions", label: say.leadersAndInSyncReplicas },
  { value: "topics", label: say.topicsAndConfiguration },
  { value: "operations", label: say.operations },
  { value: "alerts", label: say.alerts },
  { value: "deployments", label: say.deployments },
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
        title={known ? say.eventsOf(known.name) : say.events}
        sub={say.whatHappenedBrokersLeadersIn}
        actions={
          mayMark && (
            <Button leftSection={<IconFlag size={15} />} onClick={() => setMarking(true)}>
              {say.markADeployment}
            </Button>
          )
        }
      />
      <Card>
        <div className="ps-toolbar">
          <SearchBox
            value={search.subject ?? ""}
            label={say.topicGroupOrBroker}
            onChange={(subject) => change({ subject: subject || undefined })}
          />
          <Select
            size="xs"
            w={210}
            aria-label={say.sortOfEvents}
            placeholder={say.everySortOfEvent}
            clearable
            data={SORTS}
            value={search.sort ?? null}
            onChange={(sort) => change({ sort: (sort as EventGroup | null) ?? undefined })}
          />
          <SegmentedControl
            size="xs"
            aria-label={say.howFarBack}
            data={Object.keys(EVENT_RANGES)}
            value={search.last ?? DEFAULT_RANGE}
            onChange={(last) => change({ last: last === DEFAULT_RANGE ? undefined : (last as EventRange) })}
          />
        </div>
        {query.isError && query.data && (
          <div className="ps-card-body">
            <Notice tone="warn">{say.shownAsItWasIt}</Notice>
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
        {query.hasNextPage ? say.eventsSoFar(count) : say.eventsFound(count)}
        {kept && <span title={formatExact(kept)}> {say.keptSince(kept.toLocaleDateString())}</span>}
      </span>
      {query.hasNextPage && (
        <Button
          variant="default"
          ml="auto"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {say.loadOlder}
        </Button>
      )}
    </div>
  );
}

function NoEvents({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  if (filtered) {
    return (
      <Empty
        title={say.noEventMatches}
        action={
          <Button variant="default" onClick={onClear}>
            {say.clearTheFilters}
          </Button>
        }
      >
        {say.aSubjectIsComparedAs}
      </Empty>
    );
  }
  return (
    <Empty icon={<IconTimelineEvent size={20} />} title={say.nothingHappenedInThisTime}>
      {say.theClusterIsComparedWith}
    </Empty>
  );
}
