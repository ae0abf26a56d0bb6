import type { UseQueryResult } from "@tanstack/react-query";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { Status } from "@/components/status";
import { formatBytes, formatInteger, plural } from "@/lib/format";
import type { PageModel } from "@/lib/page";
import type { PartitionReplicas, Replica, TopicReplicas } from "@/lib/types";

export type ReplicasQuery = UseQueryResult<PageModel<"replicas/{cluster_id}/{topic}">>;

/** What the holders of a topic's replicas last said, by partition. */
export const byPartition = (found: TopicReplicas | null | undefined): ReadonlyMap<number, PartitionReplicas> =>
  new Map((found?.data ?? []).map((row) => [row.partition, row]));

/** `broker 2: 1,024 bytes, 5 records behind, in /data`, or why it is not known. */
export function saidOf(row: Replica): string {
  const who = `broker ${row.broker}${row.is_future ? ", copy on its way" : ""}`;
  if (row.size_bytes === null) return `${who}: not known (${row.unknown_because ?? "it did not say"})`;
  const lag = row.offset_lag ? `, ${plural(row.offset_lag, "record")} behind` : "";
  return `${who}: ${formatInteger(row.size_bytes)} bytes${lag}${row.log_dir === null ? "" : `, in ${row.log_dir}`}`;
}

/** The size of each replica, in the order of the assignment; one that is behind or on its way says so. */
export function ReplicaSizes({ replicas }: { replicas: Replica[] | undefined }) {
  if (replicas === undefined) return <span className="ps-muted">not known</span>;
  return (
    <span className="ps-tnum">
      {replicas.map((row, index) => (
        <span key={`${row.broker} ${row.log_dir} ${row.is_future}`} title={saidOf(row)}>
          {index > 0 && " · "}
          <span className={row.size_bytes === null ? "ps-muted" : undefined}>
            {row.size_bytes === null ? "not known" : formatBytes(row.size_bytes)}
          </span>
          {!!row.offset_lag && <span className="ps-warn"> −{formatInteger(row.offset_lag)}</span>}
          {row.is_future && <span className="ps-muted"> on its way</span>}
        </span>
      ))}
    </span>
  );
}

function roleOf(row: Replica) {
  if (row.is_future) return <Status tone="run" label="copy on its way" hint="It takes its replica’s place." />;
  if (!row.is_assigned) return <Status tone="warn" label="left over" hint="The partition is not to be there." />;
  if (row.is_leader) return <Status tone="ok" label="leader" />;
  return row.in_sync ? <Status tone="ok" label="in sync" /> : <Status tone="warn" label="not in sync" />;
}

/** The replicas of one partition, as their holders say. */
export function ReplicaTable({ query, partition }: { query: ReplicasQuery; partition: number }) {
  const part = query.data?.parts.replicas;
  const replicas = byPartition(part?.data).get(partition)?.replicas;
  if (replicas === undefined)
    return (
      <Empty title={query.isPending ? "The holders of its replicas are being asked" : "Its replicas are not known"}>
        {part?.reason ?? part?.data?.gaps.join("; ")}
      </Empty>
    );
  return (
    <>
      {part?.status === "stale" && (
        <div className="ps-card-body">
          <Notice tone="warn">
            As it was <RelTime at={part.as_of} />: {part.reason}
          </Notice>
        </div>
      )}
      <ScrollBox label="Replicas">
        <table className="ps-table" aria-label={`Replicas of partition ${partition}`}>
          <thead>
            <tr>
              <th scope="col">Broker</th>
              <th scope="col">Role</th>
              <th scope="col" data-align="right">
                Size
              </th>
              <th scope="col" data-align="right">
                Behind, records
              </th>
              <th scope="col">Log directory</th>
            </tr>
          </thead>
          <tbody>
            {replicas.map((row) => (
              <tr key={`${row.broker} ${row.log_dir} ${row.is_future}`}>
                <td className="ps-tnum">broker {row.broker}</td>
                <td>{roleOf(row)}</td>
                <td data-align="right">
                  {row.size_bytes === null ? (
                    <span className="ps-muted">not known</span>
                  ) : (
                    <span title={`${formatInteger(row.size_bytes)} bytes`}>{formatBytes(row.size_bytes)}</span>
                  )}
                </td>
                <td data-align="right">{formatInteger(row.offset_lag)}</td>
                <td className={row.unknown_because === null ? "ps-mono" : "ps-muted"}>
                  {row.unknown_because ?? row.log_dir ?? "–"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </>
  );
}
