import type { LeaseDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { KeptFor, Quantity } from "../quantity";

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
          <span className="ps-diff-del">
            <KeptFor ms={inMs(diff.effective_before[RETENTION_MS])} />
          </span>
          <span className="ps-arrow">→</span>
          <span className="ps-diff-add">
            <KeptFor ms={inMs(diff.effective_after[RETENTION_MS])} />
          </span>
        </dd>
        <dt>{say.goesBack}</dt>
        <dd>{say.inByItself(<Quantity of="span" value={diff.for_s} />)}</dd>
        <dt>{say.to}</dt>
        <dd>
          <KeptFor ms={diff.restores_to_ms} />
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
                <td data-align="right">
                  <Quantity of="bytes" value={row.held_bytes} />
                </td>
                <td data-align="right">
                  <Quantity of="bytes" value={row.bytes_at_end} none={say.notKnown} />
                </td>
                <td data-align="right">
                  <Quantity of="bytes" value={row.usable_at_end} none={say.notKnown} />
                </td>
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
