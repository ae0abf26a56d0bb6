import { SeverityMark, stateWord } from "@/components/alert-marks";
import { actorName } from "@/components/operation-list";
import { RelTime } from "@/components/rel-time";
import type { AlertDetail } from "@/lib/types";

/** Every move that an alert has made, the newest first. */
export function AlertHistory({ rows }: { rows: AlertDetail["history"] }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label="History">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Change</th>
            <th scope="col" className="ps-hide-sm">
              Severity
            </th>
            <th scope="col">Why</th>
            <th scope="col" className="ps-hide-sm">
              By
            </th>
            <th scope="col" className="ps-hide-sm">
              Notification
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
                  <>still {stateWord(row.after).toLowerCase()}</>
                ) : (
                  <>
                    <span className="ps-muted ps-hide-sm">
                      {stateWord(row.before).toLowerCase()}
                      <span className="ps-arrow">→</span>
                    </span>
                    {stateWord(row.after).toLowerCase()}
                  </>
                )}
              </td>
              <td className="ps-hide-sm">
                <SeverityMark severity={row.severity} />
              </td>
              <td style={{ overflowWrap: "anywhere" }}>{row.why}</td>
              <td className="ps-hide-sm">{row.by ? actorName(row.by) : "the rule"}</td>
              <td className="ps-hide-sm">
                {row.silenced_by ? "silenced" : row.event_id ? "made" : <span className="ps-muted">none</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
