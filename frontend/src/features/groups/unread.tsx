import { formatInteger } from "@/lib/format";
import type { GroupOffset, GroupRow } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.unread;

type Unread = Pick<GroupRow, "lag" | "uncommitted_partitions" | "uncommitted_records">;

/** What partitions without a commit add to the lag, in words; empty where they add nothing. */
export function notStarted({ uncommitted_partitions: partitions, uncommitted_records: records }: Unread): string {
  if (partitions === null) return say.partitionsNotKnown;
  if (partitions === 0 || records === 0) return "";
  return records === null ? say.unknownNumberIn(partitions) : say.upToIn(records, partitions);
}

/** The lag, and what may be unread beside it. */
export function UnreadOfGroup({ row }: { row: Unread }) {
  const more = notStarted(row);
  return (
    <>
      {formatInteger(row.lag)}
      {more && (
        <small className="ps-muted ps-second" title={say.policy}>
          + {more}
        </small>
      )}
    </>
  );
}

/** Of one partition: behind its commit, or between none and all that it holds. */
export function UnreadOfPartition({ row }: { row: GroupOffset }) {
  if (row.committed !== null) return <>{formatInteger(row.lag)}</>;
  return (
    <span className="ps-muted" title={say.policy}>
      {row.unread_at_most === null ? say.notKnown : row.unread_at_most === 0 ? "0" : say.upTo(row.unread_at_most)}
    </span>
  );
}
