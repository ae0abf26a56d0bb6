import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { formatBytes, formatInteger } from "@/lib/format";
import type { Segment } from "@/lib/partition-segments";

/** Where the segment begins that is written to: the newest of the replica itself. */
const activeOf = (segments: readonly Segment[]): number =>
  Math.max(...segments.filter((row) => row.role === "current").map((row) => row.base_offset));

function roleOf(row: Segment, active: number): string {
  if (row.role === "future") return "copy on its way";
  return row.base_offset === active ? "active" : "closed";
}

/** The newest first. */
export function SegmentTable({ segments, partition }: { segments: readonly Segment[]; partition: number }) {
  const active = activeOf(segments);
  return (
    <ScrollBox label="Segments">
      <table className="ps-table" aria-label={`Segments of partition ${partition}`}>
        <thead>
          <tr>
            <th scope="col" data-align="right">
              Base offset
            </th>
            <th scope="col">Role</th>
            <th scope="col" data-align="right">
              Size of records
            </th>
            <th scope="col">Last modified</th>
          </tr>
        </thead>
        <tbody>
          {segments.map((row) => (
            <tr key={`${row.role} ${row.base_offset}`}>
              <td data-align="right" className="ps-tnum">
                {formatInteger(row.base_offset)}
              </td>
              <td>{roleOf(row, active)}</td>
              <td data-align="right">
                <span title={`${formatInteger(row.size_bytes)} bytes`}>{formatBytes(row.size_bytes)}</span>
              </td>
              <td>
                <RelTime at={row.modified_ms} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
