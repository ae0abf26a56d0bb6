import type { UseQueryResult } from "@tanstack/react-query";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { Status } from "@/components/status";
import { formatBytes, formatInteger } from "@/lib/format";
import type { PageModel } from "@/lib/page";
import type { PartitionReplicas, Replica, TopicReplicas } from "@/lib/types";
import { words } from "@/words/topic-partitions";

const say = words.replicaSizes;

export type ReplicasQuery = UseQueryResult<PageModel<"replicas/{cluster_id}/{topic}">>;

/** What the holders of a topic's replicas last said, by partition. */
export const byPartition = (found: TopicReplicas | null | undefined): ReadonlyMap<number, PartitionReplicas> =>
  new Map((found?.data ?? []).map((row) => [row.partition, row]));

/** `broker 2: 1,024 bytes, 5 records behind, in /data`, or why it is not known. */
export function saidOf(row: Replica): string {
  const who = (row.is_future ? say.brokerOfACopy : say.broker)(row.broker);
  if (row.size_bytes === null) return say.sizeNotKnown(who, row.unknown_because ?? say.itDidNotSay);
  const holds = say.holds(who, row.size_bytes);
  const said = row.offset_lag ? say.behindBy(holds, row.offset_lag) : holds;
  return row.log_dir === null ? said : say.inDirectory(said, row.log_dir);
}

/** The size of each replica, in the order of the assignment; one that is behind or on its way says so. */
export function ReplicaSizes({ replicas }: { replicas: Replica[] | undefined }) {
  if (replicas === undefined) return <span className="ps-muted">{say.notKnown}</span>;
  return (
    <span className="ps-tnum">
      {replicas.map((row, index) => (
        <span key={`${row.broker} ${row.log_dir} ${row.is_future}`} title={saidOf(row)}>
          {index > 0 && " · "}
          <span className={row.size_bytes === null ? "ps-muted" : undefined}>
            {row.size_bytes === null ? say.notKnown : formatBytes(row.size_bytes)}
          </span>
          {!!row.offset_lag && <span className="ps-warn"> −{formatInteger(row.offset_lag)}</span>}
          {row.is_future && <span className="ps-muted"> {say.onItsWay}</span>}
        </span>
      ))}
    </span>
  );
}

function roleOf(row: Replica) {
  if (row.is_future) return <Status tone="run" label={say.copyOnItsWay} hint={say.takesTheReplicasPlace} />;
  if (!row.is_assigned) return <Status tone="warn" label={say.leftOver} hint={say.notToBeThere} />;
  if (row.is_leader) return <Status tone="ok" label={say.leader} />;
  return row.in_sync ? <Status tone="ok" label={say.inSync} /> : <Status tone="warn" label={say.notInSync} />;
}

/** The replicas of one partition, as their holders say. */
export function ReplicaTable({ query, partition }: { query: ReplicasQuery; partition: number }) {
  const part = query.data?.parts.replicas;
  const replicas = byPartition(part?.data).get(partition)?.replicas;
  if (replicas === undefined)
    return (
      <Empty title={query.isPending ? say.beingAsked : say.replicasNotKnown}>
        {part?.reason ?? part?.data?.gaps.join("; ")}
      </Empty>
    );
  return (
    <>
      {part?.status === "stale" && (
        <div className="ps-card-body">
          <Notice tone="warn">{say.asItWas(<RelTime at={part.as_of} />, part.reason)}</Notice>
        </div>
      )}
      <ScrollBox label={say.replicas}>
        <table className="ps-table" aria-label={say.replicasOf(partition)}>
          <thead>
            <tr>
              <th scope="col">{say.brokerColumn}</th>
              <th scope="col">{say.role}</th>
              <th scope="col" data-align="right">
                {say.size}
              </th>
              <th scope="col" data-align="right">
                {say.behind}
              </th>
              <th scope="col">{say.logDirectory}</th>
            </tr>
          </thead>
          <tbody>
            {replicas.map((row) => (
              <tr key={`${row.broker} ${row.log_dir} ${row.is_future}`}>
                <td className="ps-tnum">{say.broker(row.broker)}</td>
                <td>{roleOf(row)}</td>
                <td data-align="right">
                  {row.size_bytes === null ? (
                    <span className="ps-muted">{say.notKnown}</span>
                  ) : (
                    <span title={say.bytes(row.size_bytes)}>{formatBytes(row.size_bytes)}</span>
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
