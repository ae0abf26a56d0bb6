import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { components } from "@/generated/api";
import { api } from "@/lib/api-client";
import { formatBytes, formatInteger } from "@/lib/format";
import { useMayBrowse } from "@/lib/permissions";
import type { MessagePart, OffsetDiffData, Plan } from "@/lib/types";
import { Lines } from "./card";
import { Notice } from "./notice";
import { partitionId } from "./partition-column";
import { ProblemPanel } from "./problem-panel";
import { RelTime } from "./rel-time";

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
    return (
      <Notice tone="info">
        The records at these offsets are not shown: reading them needs the role message-reader, operator or owner on
        their topics.
      </Notice>
    );
  }
  const row = rows.find((each) => partitionId(each) === chosen);
  return (
    <div>
      <Select
        label="See the record that is read first"
        description={`Of one partition${rows.length < there.length ? " of a topic whose messages you may read" : ""}; reading it is noted in the audit log.`}
        placeholder="Choose a partition"
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
        Nothing is there yet: the log ends at {formatInteger(sample.offset)}.
      </p>
    );
  }
  return (
    <dl className="ps-record" aria-label="Record at the target">
      <dt>Offset</dt>
      <dd>
        {formatInteger(record.offset)}
        {record.offset !== sample.offset && " (the first one that is there)"}
      </dd>
      <dt>Time</dt>
      <dd>
        <RelTime at={record.timestamp} fallback="not known" />
      </dd>
      <dt>Key</dt>
      <dd>
        <PartShown part={record.key} />
      </dd>
      <dt>Value</dt>
      <dd>
        <PartShown part={record.value} />
      </dd>
      {record.headers.map((header, index) => (
        <div key={index} style={{ display: "contents" }}>
          <dt>Header {header.name}</dt>
          <dd>
            <PartShown part={header} />
          </dd>
        </div>
      ))}
      {record.headers_left_out > 0 && (
        <>
          <dt>Headers</dt>
          <dd className="ps-muted">{formatInteger(record.headers_left_out)} more are not shown</dd>
        </>
      )}
    </dl>
  );
}

/** As text, whatever it holds: never as markup. */
function PartShown({ part }: { part: MessagePart }) {
  if (part.kind === "null") return <span className="ps-muted">null</span>;
  const note = [
    part.size_bytes !== null && formatBytes(part.size_bytes),
    part.kind === "hex" && "not text, in hexadecimal",
    part.truncated && "only the beginning",
    part.masked && "a mask hides something here",
    part.problem,
  ].filter(Boolean);
  return (
    <>
      <pre className="ps-mono">{part.text}</pre>
      <small className="ps-muted" title={part.size_bytes === null ? undefined : `${part.size_bytes} bytes`}>
        {note.join(", ")}
      </small>
    </>
  );
}
