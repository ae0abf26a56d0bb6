import { formatBytes, formatDuration, formatRetention } from "@/lib/format";
import type { LeaseDiffData } from "@/lib/types";
import { words } from "@/words/diffs";

const say = words.leaseDiff;

const RETENTION_MS = "retention.ms";

const inMs = (value: string | null | undefined): number | null =>
  value === null || value === undefined || Number.isNaN(Number(value)) ? null : Number(value);

/** A longer retention for a set time: what holds, when it goes back and to what, and the room on the disks. */
export function LeaseDiff({ diff }: { diff: LeaseDiffData }) {
  return (
    <>
      <dl className="ps-kv">
        <dt>{say.recordsAreKeptFor}</dt>
        <dd>
          <span className="ps-diff-del">{formatRetention(inMs(diff.effective_before[RETENTION_MS]))}</span>
          <span className="ps-arrow">→</span>
          <span className="ps-diff-add">{formatRetention(inMs(diff.effective_after[RETENTION_MS]))}</span>
        </dd>
        <dt>{say.goesBack}</dt>
        <dd>{say.inByItself(formatDuration(diff.for_s))}</dd>
        <dt>{say.to}</dt>
        <dd>
          {formatRetention(diff.restores_to_ms)}
          {diff.restores_to === null && <span className="ps-muted">{say.theDefault}</span>}
        </dd>
      </dl>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.roomOnTheDisks}>
          <thead>
            <tr>
              <th scope="col">{say.broker}</th>
              <th scope="col" data-align="right">
                {say.heldNow}
              </th>
              <th scope="col" data-align="right">
                {say.atItsEndAtMost}
              </th>
              <th scope="col" data-align="right">
                {say.freeAtItsEnd}
              </th>
              <th scope="col">{say.fits}</th>
            </tr>
          </thead>
          <tbody>
            {diff.disk.map((row) => (
              <tr key={`${row.broker} ${row.log_dir}`}>
                <td>
                  {row.broker} <span className="ps-muted ps-mono ps-hide-sm">{row.log_dir}</span>
                </td>
                <td data-align="right">{formatBytes(row.held_bytes)}</td>
                <td data-align="right">{known(row.bytes_at_end)}</td>
                <td data-align="right">{known(row.usable_at_end)}</td>
                <td className={row.fits === null ? "ps-warn" : row.fits ? "ps-ok" : "ps-bad"}>
                  {row.fits === null ? say.notKnown : row.fits ? say.yes : say.no}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const known = (bytes: number | null): string => (bytes === null ? say.notKnown : formatBytes(bytes));
