import { Quantity } from "@/components/quantity";
import { ScrollBox } from "@/components/scroll-box";
import { formatInteger } from "@/lib/format";
import type { WhatIfRow } from "@/lib/insights";
import { isNow } from "@/lib/what-if";

const known = (bytes: number | null) =>
  bytes === null ? <span className="ps-muted">not known</span> : <Quantity of="bytes" value={bytes} />;

interface LadderTableProps {
  rows: WhatIfRow[];
  chosen: WhatIfRow;
  nowMs: number | null;
}

/** Every retention of the ladder side by side; the chosen one is marked. */
export function LadderTable({ rows, chosen, nowMs }: LadderTableProps) {
  return (
    <ScrollBox label="What if">
      <table className="ps-table" aria-label="What if">
        <thead>
          <tr>
            <th scope="col">Kept for</th>
            <th scope="col" data-align="right">
              Held, one copy
            </th>
            <th scope="col" data-align="right">
              Disk freed
            </th>
            <th scope="col" data-align="right">
              Groups losing
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
                {isNow(row, nowMs) && <span className="ps-tag">now</span>}
              </td>
              <td data-align="right">{known(row.bytes_held)}</td>
              <td data-align="right">{known(row.disk_freed_bytes)}</td>
              <td data-align="right" className={row.groups_losing > 0 ? "ps-bad" : undefined}>
                {formatInteger(row.groups_losing)}
                {row.groups_unknown > 0 && (
                  <div className="ps-muted"> and {formatInteger(row.groups_unknown)} not known</div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}
