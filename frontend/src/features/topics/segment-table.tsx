import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { formatInteger } from "@/lib/format";
import type { Segment } from "@/lib/partition-segments";
import { words } from "@/words/topic-partitions";

const say = words.segments;

/** Where the segment begins that is written to: the newest of the replica itself. */
const activeOf = (segments: readonly Segment[]): number =>
  Math.max(...segments.filter((row) => row.role === "current").map((row) => row.base_offset));

function roleOf(row: Segment, active: number): string {
  if (row.role === "future") return say.copyOnItsWay;
  return row.base_offset === active ? say.active : say.closed;
}

/** The newest first. */
export function SegmentTable({ segments, partition }: { segments: readonly Segment[]; partition: number }) {
  const active = activeOf(segments);
  return (
    <ScrollBox label={say.segments}>
      <table className="ps-table" aria-label={say.segmentsOf(partition)}>
        <thead>
          <tr>
            <th scope="col" data-align="right">
              {say.baseOffset}
            </th>
            <th scope="col">{say.role}</th>
            <th scope="col" data-align="right">
              {say.sizeOfRecords}
            </th>
            <th scope="col">{say.lastModified}</th>
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
                <Quantity of="bytes" value={row.size_bytes} />
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
