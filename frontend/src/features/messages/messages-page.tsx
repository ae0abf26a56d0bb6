import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconMailOff, IconPencilPlus } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ButtonLink } from "@/components/button-link";
import { Card, Lines, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { usePage } from "@/lib/page";
import { isRefusal, toProblem } from "@/lib/problem";
import type { MessageSearch } from "@/lib/search";
import type { Message } from "@/lib/types";
import { words } from "@/words/messages";
import { ExportMenu } from "./export-menu";
import { MessageDialog } from "./message-dialog";
import { MessageList } from "./message-list";
import { ProduceDialog } from "./produce-dialog";
import { ProgressLine } from "./progress-line";
import { isUnderWay, type Reading } from "./reading";
import { SearchForm } from "./search-form";
import { asError, useReading } from "./use-reading";

const say = words.messagesPage;

const route = getRouteApi("/app/clusters/$clusterId/topics/$topic/messages");
const PAGE_SIZE = 50;

function urlOf(clusterId: string, topic: string, search: MessageSearch, cursor?: string): string {
  const given = Object.entries({ ...search, limit: PAGE_SIZE, cursor }).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `/console/events/messages/${encodeURIComponent(clusterId)}/${encodeURIComponent(topic)}?${query.toString()}`;
}

/** Faults of the query by the field that they belong to. */
function faultsOf(error: unknown): Record<string, string> {
  if (!error) return {};
  const rows = toProblem(error).errors ?? [];
  return Object.fromEntries(rows.map((row) => [row.pointer.replace(/^\//, ""), row.detail]));
}

export function MessagesPage() {
  const { clusterId, topic } = route.useParams();
  const query = usePage("topic/{cluster_id}/{topic}", { cluster_id: clusterId, topic });
  const search = route.useSearch();
  const [writing, setWriting] = useState(false);
  const rights = query.data?.parts.messages?.data;
  const found = query.data?.parts.topic.data;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title={say.messages}
        sub={say.ofTopic(<span className="ps-mono">{topic}</span>)}
        actions={
          <>
            <ButtonLink to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic }} variant="default">
              {say.openTopic}
            </ButtonLink>
            {rights?.browse && <ExportMenu clusterId={clusterId} topic={topic} search={search} />}
            {rights?.produce && found && !found.internal && (
              <Button leftSection={<IconPencilPlus size={15} />} onClick={() => setWriting(true)}>
                {say.writeMessage}
              </Button>
            )}
          </>
        }
      />
      {rights ? (
        rights.browse ? (
          <Browser clusterId={clusterId} topic={topic} masked={rights.masked} />
        ) : (
          <Card>
            <Empty title={say.mayNotRead}>{say.whoMayRead}</Empty>
          </Card>
        )
      ) : (
        <Card>
          <PartView query={query} name="messages">
            {() => <Lines rows={4} />}
          </PartView>
        </Card>
      )}
      {writing && found && (
        <ProduceDialog
          clusterId={clusterId}
          topic={topic}
          partitions={found.partitions.length}
          onClose={() => setWriting(false)}
          onWritten={({ partition, offset }) => {
            setWriting(false);
            notifications.show({ message: say.written(partition, offset) });
          }}
        />
      )}
    </>
  );
}

/** Says what an open transaction is to whoever wonders why a page ends before the topic does. */
function HeldBack({ rows }: { rows: Reading["heldBack"] }) {
  const first = rows[0];
  if (!first) return null;
  const count = rows.reduce((sum, row) => sum + row.end_offset - row.last_stable_offset, 0);
  return (
    <Notice tone="info" title={say.heldBack(count)}>
      {say.whereHeldBack(rows.length, first.partition, first.last_stable_offset, first.end_offset)}
    </Notice>
  );
}

function Browser({ clusterId, topic, masked }: { clusterId: string; topic: string; masked: boolean }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { reading, begin, cancel } = useReading();
  const [open, setOpen] = useState<Message | null>(null);
  const asked = urlOf(clusterId, topic, search);
  const tail = search.tail === true;
  useEffect(() => begin(asked, tail), [asked, tail, begin]);
  const error = reading.status === "failed" ? asError(reading.error) : null;
  const faults = faultsOf(error);
  const next = reading.done?.ended_by === "end" ? null : reading.done?.cursor;
  const busy = isUnderWay(reading);
  return (
    <div className="ps-stack">
      <Card padded>
        <SearchForm
          search={search}
          busy={busy}
          faults={faults}
          onCancel={cancel}
          onSearch={(wanted) => {
            // The same once more is no other address: it is read again all the same.
            if (urlOf(clusterId, topic, wanted) === asked) begin(asked, tail);
            else void navigate({ search: wanted });
          }}
        />
      </Card>
      {(reading.masked ?? masked) && <Notice tone="info">{say.masksHideAPart}</Notice>}
      {search.isolation === "read_committed" ? (
        <HeldBack rows={reading.heldBack} />
      ) : (
        <p className="ps-muted" style={{ margin: 0 }}>
          {say.uncommittedAreAmongThese}
        </p>
      )}
      <Card>
        <ProgressLine reading={reading} tail={tail} />
        {error !== null && Object.keys(faults).length === 0 && (
          <div className="ps-card-body">
            <ProblemPanel error={error} onRetry={() => begin(asked, tail)} />
          </div>
        )}
        {reading.messages.length > 0 ? (
          <MessageList messages={reading.messages} onOpen={setOpen} />
        ) : busy ? (
          !tail && <Lines rows={6} />
        ) : (
          reading.status === "done" && (
            <Empty icon={<IconMailOff size={20} />} title={next ? say.nothingFoundSoFar : say.noMessagesHere}>
              {next ? say.stoppedAtABound : say.nothingLiesHere}
            </Empty>
          )
        )}
        {reading.status === "done" && (
          <div className="ps-card-body">
            {next && (
              <Button
                variant="default"
                onClick={() => begin(urlOf(clusterId, topic, { ...search, tail: undefined }, next), false)}
              >
                {reading.done?.ended_by === "limit" ? say.nextPage : say.searchOn}
              </Button>
            )}
          </div>
        )}
      </Card>
      {open && (
        <MessageDialog
          key={`${open.partition}-${open.offset}`}
          clusterId={clusterId}
          topic={topic}
          message={open}
          onClose={() => setOpen(null)}
        />
      )}
    </div>
  );
}
