import { Quantity } from "@/components/quantity";
import { ScrollBox } from "@/components/scroll-box";
import { formatInteger } from "@/lib/format";
import type { WhatIfRow } from "@/lib/insights";
import { isNow } from "@/lib/what-if";
import { words } from "@/words/topics";

const say = words.ladderTable;

const known = (bytes: number | null) =>
  bytes === null ? <span className="ps-muted">{say.notKnown}</span> : <Quantity of="bytes" value={bytes} />;

interface LadderTableProps {
  rows: WhatIfRow[];
  chosen: WhatIfRow;
  nowMs: number | null;
}

/** Every retention of the ladder side by side; the chosen one is marked. */
export function LadderTable({ rows, chosen, nowMs }: LadderTableProps) {
  return (
    <ScrollBox label={say.whatIf}>
      <table className="ps-table" aria-label={say.whatIf}>
        <thead>
          <tr>
            <th scope="col">{say.keptFor}</th>
            <th scope="col" data-align="right">
              {say.held}
            </th>
            <th scope="col" data-align="right">
              {say.diskFreed}
            </th>
            <th scope="col" data-align="right">
              {say.groupsLosing}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={row.retention_s}
              data-applies={row === chosen || undefined}
              aria-current={row === chosen || undefined}
            >
              <td>
                <Quantity of="span" value={row.retention_s} />
                {isNow(row, nowMs) && <span className="ps-tag">{say.now}</span>}
              </td>
              <td data-align="right">{known(row.bytes_held)}</td>
              <td data-align="right">{known(row.disk_freed_bytes)}</td>
              <td data-align="right" className={row.groups_losing > 0 ? "ps-bad" : undefined}>
                {formatInteger(row.groups_losing)}
                {row.groups_unknown > 0 && <div className="ps-muted"> {say.andNotKnown(row.groups_unknown)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
