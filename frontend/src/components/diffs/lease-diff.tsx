import type { LeaseDiffData } from "@/lib/types";
import { KeptFor, Quantity } from "../quantity";

const RETENTION_MS = "retention.ms";

const inMs = (value: string | null | undefined): number | null =>
  value === null || value === undefined || Number.isNaN(Number(value)) ? null : Number(value);

/** A longer retention for a set time: what holds, when it goes back and to what, and the room on the disks. */
export function LeaseDiff({ diff }: { diff: LeaseDiffData }) {
  return (
    <>
      <dl className="ps-kv">
        <dt>Records are kept for</dt>
        <dd>
          <span className="ps-diff-del">
            <KeptFor ms={inMs(diff.effective_before[RETENTION_MS])} />
          </span>
          <span className="ps-arrow">→</span>
          <span className="ps-diff-add">
            <KeptFor ms={inMs(diff.effective_after[RETENTION_MS])} />
          </span>
        </dd>
        <dt>Goes back</dt>
        <dd>
          in <Quantity of="span" value={diff.for_s} />, by itself
        </dd>
        <dt>To</dt>
        <dd>
          <KeptFor ms={diff.restores_to_ms} />
          {diff.restores_to === null && <span className="ps-muted">, the default</span>}
        </dd>
      </dl>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Room on the disks">
          <thead>
            <tr>
              <th scope="col">Broker</th>
              <th scope="col" data-align="right">
                Held now
              </th>
              <th scope="col" data-align="right">
                At its end, at most
              </th>
              <th scope="col" data-align="right">
                Free at its end
              </th>
              <th scope="col">Fits</th>
            </tr>
          </thead>
          <tbody>
            {diff.disk.map((row) => (
              <tr key={`${row.broker} ${row.log_dir}`}>
                <td>
                  {row.broker} <span className="ps-muted ps-mono ps-hide-sm">{row.log_dir}</span>
                </td>
                <td data-align="right">
                  <Quantity of="bytes" value={row.held_bytes} />
                </td>
                <td data-align="right">
                  <Quantity of="bytes" value={row.bytes_at_end} none="not known" />
                </td>
                <td data-align="right">
                  <Quantity of="bytes" value={row.usable_at_end} none="not known" />
                </td>
                <td className={row.fits === null ? "ps-warn" : row.fits ? "ps-ok" : "ps-bad"}>
                  {row.fits === null ? "not known" : row.fits ? "yes" : "no"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
