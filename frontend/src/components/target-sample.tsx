import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { components } from "@/generated/api";
import { api } from "@/lib/api-client";
import { formatBytes, formatInteger } from "@/lib/format";
import type { OffsetDiffData, Plan } from "@/lib/types";
import { Lines } from "./card";
import { partitionId } from "./partition-column";
import { ProblemPanel } from "./problem-panel";
import { RelTime } from "./rel-time";

type Sample = components["schemas"]["OffsetSample"];
type Bytes = components["schemas"]["ShownBytes"];
type Move = OffsetDiffData["partitions"][number];

/** Names offered at a time; typing finds the others. */
const OFFERED_MAX = 100;

/** The record that one partition of a reset would read first: asked for one at a time, when somebody chooses it. */
export function TargetSample({ plan }: { plan: Extract<Plan, { kind: "offset.reset" }> }) {
  const rows = plan.diff.partitions.filter((row) => row.to !== null && row.effect !== "unknown");
  const [chosen, setChosen] = useState<string | null>(null);
  const row = rows.find((each) => partitionId(each) === chosen);
  if (rows.length === 0 || plan.cluster_id === null) return null;
  return (
    <div>
      <Select
        label="See the record that is read first"
        description="Of one partition; reading it is noted in the audit log."
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
      {row && <RecordThere clusterId={plan.cluster_id} row={row} />}
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
        <BytesShown bytes={record.key} />
      </dd>
      <dt>Value</dt>
      <dd>
        <BytesShown bytes={record.value} />
      </dd>
      {record.headers.map((header, index) => (
        <div key={index} style={{ display: "contents" }}>
          <dt>Header {header.name}</dt>
          <dd>
            <BytesShown bytes={header.value} />
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
function BytesShown({ bytes }: { bytes: Bytes | null }) {
  if (bytes === null) return <span className="ps-muted">null</span>;
  const note = [bytes.hex !== null && "not text, in hexadecimal", bytes.is_cut && "only the beginning"].filter(Boolean);
  return (
    <>
      <pre className="ps-mono">{bytes.text ?? bytes.hex}</pre>
      <small className="ps-muted" title={`${bytes.size_bytes} bytes`}>
        {[formatBytes(bytes.size_bytes), ...note].join(", ")}
      </small>
    </>
  );
}
