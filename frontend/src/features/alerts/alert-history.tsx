import { SeverityMark, stateWord } from "@/components/alert-marks";
import { actorName } from "@/components/operation-list";
import { RelTime } from "@/components/rel-time";
import type { AlertDetail } from "@/lib/types";
import { words } from "@/words/alerts";

const say = words.alertHistory;

/** Beside the states of an alert those before it was one. */
const BEFORE: Readonly<Record<string, string>> = say.before;
const moveWord = (state: string): string =>
  Object.hasOwn(BEFORE, state) ? (BEFORE[state] ?? state) : stateWord(state).toLowerCase();

/** Every move that an alert has made, the newest first. */
export function AlertHistory({ rows }: { rows: AlertDetail["history"] }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.history}>
        <thead>
          <tr>
            <th scope="col">{say.when}</th>
            <th scope="col">{say.change}</th>
            <th scope="col" className="ps-hide-sm">
              {say.severity}
            </th>
            <th scope="col">{say.why}</th>
            <th scope="col" className="ps-hide-sm">
              {say.by}
            </th>
            <th scope="col" className="ps-hide-sm">
              {say.notification}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map((row, index) => (
            <tr key={`${row.at} ${index}`}>
              <td>
                <RelTime at={row.at} />
              </td>
              <td>
                {row.before === row.after ? (
                  <>{say.still(moveWord(row.after))}</>
                ) : (
                  <>
                    <span className="ps-muted ps-hide-sm">
                      {moveWord(row.before)}
                      <span className="ps-arrow">→</span>
                    </span>
                    {moveWord(row.after)}
                  </>
                )}
              </td>
              <td className="ps-hide-sm">
                <SeverityMark severity={row.severity} />
              </td>
              <td style={{ overflowWrap: "anywhere" }}>{row.why}</td>
              <td className="ps-hide-sm">{row.by ? actorName(row.by) : say.theRule}</td>
              <td className="ps-hide-sm">
                {row.silenced_by ? (
                  say.silenced
                ) : row.event_id ? (
                  say.made
                ) : (
                  <span className="ps-muted">{say.none}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
