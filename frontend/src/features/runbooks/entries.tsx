import { Link } from "@tanstack/react-router";
import { Card } from "@/components/card";
import { Empty } from "@/components/empty";
import { RelTime } from "@/components/rel-time";
import type { Runbook, RunbookEntry, RunbookRunDetail } from "@/lib/types";
import { words } from "@/words/runbooks";
import { Outcome } from "./outcome";

const say = words.entries;

/** What was looked at and planned in a run, in its order. */
export function Entries({ run, runbook }: { run: RunbookRunDetail; runbook: Runbook }) {
  const parts = runbook.sections.flatMap((section) => section.parts);
  const titleOf = (entry: RunbookEntry) =>
    parts.find((part) => part.type === entry.type && part.number === entry.number)?.text ?? entry.name;
  return (
    <Card title={say.recordedInThisRun}>
      {run.entries.length === 0 ? (
        <Empty title={say.nothingYet}>{say.eachCheckThatIsRun}</Empty>
      ) : (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.recorded}>
            <thead>
              <tr>
                <th scope="col">{say.when}</th>
                <th scope="col">{say.what}</th>
                <th scope="col">{say.cameOut}</th>
                <th scope="col" className="ps-hide-sm">
                  {say.inWords}
                </th>
                <th scope="col" className="ps-hide-sm">
                  {say.by}
                </th>
              </tr>
            </thead>
            <tbody>
              {run.entries.map((entry, index) => (
                <tr key={index}>
                  <td>
                    <RelTime at={entry.created_at} />
                  </td>
                  <td>{titleOf(entry)}</td>
                  <td>
                    {entry.operation_id ? (
                      <Link
                        to="/operations/$operationId"
                        params={{ operationId: entry.operation_id }}
                        className="ps-link"
                      >
                        {say.confirmed}
                      </Link>
                    ) : (
                      <Outcome outcome={entry.outcome} />
                    )}
                  </td>
                  <td className="ps-hide-sm" style={{ overflowWrap: "anywhere" }}>
                    {entry.text}
                  </td>
                  <td className="ps-mono ps-hide-sm">{entry.actor}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
