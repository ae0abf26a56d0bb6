import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { components } from "@/generated/api";
import { api } from "@/lib/api-client";
import { formatBytes, formatInteger } from "@/lib/format";
import { useMayBrowse } from "@/lib/permissions";
import type { MessagePart, OffsetDiffData, Plan } from "@/lib/types";
import { words } from "@/words/plans";
import { Lines } from "./card";
import { Notice } from "./notice";
import { partitionId } from "./partition-column";
import { ProblemPanel } from "./problem-panel";
import { RelTime } from "./rel-time";

const say = words.targetSample;

type Sample = components["schemas"]["OffsetSample"];
type Move = OffsetDiffData["partitions"][number];

/** Names offered at a time; typing finds the others. */
const OFFERED_MAX = 100;

/** The record that one partition of a reset would read first: asked for one at a time, when somebody chooses it. */
export function TargetSample({ plan }: { plan: Extract<Plan, { kind: "offset.reset" }> }) {
  const mayBrowse = useMayBrowse();
  const [chosen, setChosen] = useState<string | null>(null);
  const { cluster_id: clusterId } = plan;
  const there = plan.diff.partitions.filter((row) => row.to !== null && row.effect !== "unknown");
  if (there.length === 0 || clusterId === null) return null;
  const rows = there.filter((row) => mayBrowse(clusterId, row.topic));
  if (rows.length === 0) {
    return <Notice tone="info">{say.theRecordsAtTheseOffsets}</Notice>;
  }
  const row = rows.find((each) => partitionId(each) === chosen);
  return (
    <div>
      <Select
        label={say.seeTheRecordThatIs}
        description={say.ofOnePartitionReadingIt(rows.length < there.length ? say.ofATopicWhoseMessages : "")}
        placeholder={say.chooseAPartition}
        size="sm"
        maw={420}
        data={rows.map(partitionId)}
        value={chosen}
        onChange={setChosen}
        limit={OFFERED_MAX}
        searchable
        clearable
      />
      {row && <RecordThere clusterId={clusterId} row={row} />}
    </div>
  );
}

function RecordThere({ clusterId, row }: { clusterId: string; row: Move }) {
  const query = useQuery({
    queryKey: ["offset-sample", clusterId, row.topic, row.partition, row.to],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/offset-samples/{topic}", {
        blanks: { cluster_id: clusterId, topic: row.topic },
        query: { partition: row.partition, offset: row.to ?? 0 },
        signal,
      }),
    // Whoever wants it again chooses it again: each reading is noted.
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (query.isPending) return <Lines rows={3} />;
  if (query.isError) {
    return (
      <div style={{ marginTop: 8 }}>
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  return <SampledRecord sample={query.data} />;
}

function SampledRecord({ sample }: { sample: Sample }) {
  const { record } = sample;
  if (record === null) {
    return (
      <p role="status" className="ps-muted">
        {say.nothingIsThereYetThe(sample.offset)}
      </p>
    );
  }
  return (
    <dl className="ps-record" aria-label={say.recordAtTheTarget}>
      <dt>{say.offset}</dt>
      <dd>
        {formatInteger(record.offset)}
        {record.offset !== sample.offset && say.theFirstOneThatIs}
      </dd>
      <dt>{say.time}</dt>
      <dd>
        <RelTime at={record.timestamp} fallback={say.notKnown} />
      </dd>
      <dt>{say.key}</dt>
      <dd>
        <PartShown part={record.key} />
      </dd>
      <dt>{say.value}</dt>
      <dd>
        <PartShown part={record.value} />
      </dd>
      {record.headers.map((header, index) => (
        <div key={index} style={{ display: "contents" }}>
          <dt>{say.header(header.name)}</dt>
          <dd>
            <PartShown part={header} />
          </dd>
        </div>
      ))}
      {record.headers_left_out > 0 && (
        <>
          <dt>{say.headers}</dt>
          <dd className="ps-muted">{say.moreAreNotShown(record.headers_left_out)}</dd>
        </>
      )}
    </dl>
  );
}

/** As text, whatever it holds: never as markup. */
function PartShown({ part }: { part: MessagePart }) {
  if (part.kind === "null") return <span className="ps-muted">{say.nullWord}</span>;
  const note = [
    part.size_bytes !== null && formatBytes(part.size_bytes),
    part.kind === "hex" && say.notTextInHexadecimal,
    part.truncated && say.onlyTheBeginning,
    part.masked && say.aMaskHidesSomethingHere,
    part.problem,
  ].filter(Boolean);
  return (
    <>
      <pre className="ps-mono">{part.text}</pre>
      <small className="ps-muted" title={part.size_bytes === null ? undefined : say.bytes(part.size_bytes)}>
        {note.join(", ")}
      </small>
    </>
  );
}
