import { latest } from "@/lib/runbooks";
import type { Runbook, RunbookPart, RunbookRunDetail } from "@/lib/types";
import { words } from "@/words/runbooks";
import { Inlines } from "./markdown";
import { Outcome } from "./outcome";

const say = words.decisions;

/** When a check comes out so, then that; what applies by the checks of this run is marked. */
export function Decisions({ runbook, run }: { runbook: Runbook; run: RunbookRunDetail | undefined }) {
  const checks = runbook.sections.flatMap((section) => section.parts.filter((part) => part.type === "check"));
  const titles = new Map(checks.map((part) => [part.name, part.text]));
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.decisions}>
        <thead>
          <tr>
            <th scope="col">{say.check}</th>
            <th scope="col">{say.comesOut}</th>
            <th scope="col">{say.then}</th>
          </tr>
        </thead>
        <tbody>
          {runbook.decisions.map((row, index) => {
            const applies = run !== undefined && outcomesOf(row.check, checks, run).includes(row.outcome);
            return (
              <tr key={index} data-applies={applies || undefined}>
                <td>{titles.get(row.check) ?? <span className="ps-mono">{row.check}</span>}</td>
                <td>
                  <Outcome outcome={row.outcome} />
                  {applies && <span className="ps-tag">{say.applies}</span>}
                </td>
                <td style={{ overflowWrap: "anywhere" }}>
                  <Inlines text={row.then} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** What the checks of this name said last: one name may be asked of several things. */
function outcomesOf(name: string, checks: RunbookPart[], run: RunbookRunDetail): string[] {
  return checks
    .filter((part) => part.name === name)
    .flatMap((part) => latest(run.entries, "check", part.number)?.outcome ?? []);
}
