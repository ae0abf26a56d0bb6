import { formatInteger, plural } from "@/lib/format";
import type { GroupOffset, GroupRow } from "@/lib/types";

const POLICY =
  "A partition without a commit is read from its first record with auto.offset.reset=earliest, " +
  "from its end with latest. That is a setting of the consumers, which brokers do not know.";

type Unread = Pick<GroupRow, "lag" | "uncommitted_partitions" | "uncommitted_records">;

/** What partitions without a commit add to the lag, in words; empty where they add nothing. */
export function notStarted({ uncommitted_partitions: partitions, uncommitted_records: records }: Unread): string {
  if (partitions === null) return "partitions without a commit not known";
  if (partitions === 0 || records === 0) return "";
  const where = `in ${plural(partitions, "partition")} without a commit`;
  return records === null ? `an unknown number ${where}` : `up to ${formatInteger(records)} ${where}`;
}

/** The lag, and what may be unread beside it. */
export function UnreadOfGroup({ row }: { row: Unread }) {
  const more = notStarted(row);
  return (
    <>
      {formatInteger(row.lag)}
      {more && (
        <small className="ps-muted ps-second" title={POLICY}>
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
    <span className="ps-muted" title={POLICY}>
      {row.unread_at_most === null
        ? "not known"
        : row.unread_at_most === 0
          ? "0"
          : `0 to ${formatInteger(row.unread_at_most)}`}
    </span>
  );
}
