import type { Awaited, Readiness } from "@/lib/readiness";
import { firstOf, hasNothing, waiting } from "@/lib/readiness";
import { words } from "@/words/charts";
import { Card } from "./card";
import { Metered } from "./metered";
import { RelTime } from "./rel-time";
import { ScrollBox } from "./scroll-box";

const say = words.readinessCard;

/** Since when a cluster is observed, what is computed when, and how far each analysis is; nothing once all can judge. */
export function ReadinessCard({ found }: { found: Readiness }) {
  const rows = waiting(found);
  if (rows.length === 0) return null;
  return (
    <Card title={hasNothing(found) ? say.numbersAreCollected : say.stillCollected}>
      <div className="ps-card-body">
        <p style={{ margin: 0 }}>
          <Since found={found} />
        </p>
      </div>
      <ScrollBox label={say.whatIsWaitedFor}>
        <table className="ps-table" aria-label={say.whatIsWaitedFor}>
          <thead>
            <tr>
              <th scope="col">{say.analysis}</th>
              <th scope="col" className="ps-hide-sm">
                {say.says}
              </th>
              <th scope="col">{say.soFar}</th>
              <th scope="col">{say.judgesFrom}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.analysis}>
                <td>{say.analyses[row.analysis][0]}</td>
                <td className="ps-hide-sm ps-muted">{say.analyses[row.analysis][1]}</td>
                <td style={{ whiteSpace: "nowrap" }}>
                  <Metered share={row.have / row.needed}>{say[row.unit](row.have, row.needed)}</Metered>
                </td>
                <td>
                  <When row={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Card>
  );
}

/** Since when it is observed, and while nothing is known of it, when the first numbers come. */
function Since({ found }: { found: Readiness }) {
  if (found.observed_since === null) return <>{say.nothingSampledYet(found.interval_s)}</>;
  const first = hasNothing(found) ? firstOf(found) : undefined;
  return (
    <>
      {say.observedSince(<RelTime at={found.observed_since} />, found.interval_s)} {first && <First row={first} />}
    </>
  );
}

function First({ row }: { row: Awaited }) {
  const at = <RelTime at={row.first_at} />;
  if (row.state === "computing") return <strong>{say.firstAreComputed}</strong>;
  if (row.state === "late") return <strong className="ps-warn">{say.firstAreLate(at)}</strong>;
  return row.state === "collecting" ? <strong>{say.firstNumbers(at)}</strong> : null;
}

function When({ row }: { row: Awaited }) {
  const at = <RelTime at={row.first_at} />;
  if (row.state === "not_sampled") return <span className="ps-muted">{say.afterTheFirstSample}</span>;
  if (row.state === "computing") return <>{say.beingComputed}</>;
  return row.state === "late" ? <span className="ps-warn">{say.late(at)}</span> : at;
}
