import { Link } from "@tanstack/react-router";
import { Breakable } from "@/components/breakable";
import { Card } from "@/components/card";
import { RelTime } from "@/components/rel-time";
import { ScrollBox } from "@/components/scroll-box";
import { firstOf, type Readiness } from "@/lib/readiness";
import { words } from "@/words/usage";

const say = words.firstNumbers;

/** Of a tenant without a whole hour: since when each cluster is observed, and when its first numbers come. */
export function FirstNumbers({ clusters }: { clusters: Readiness[] }) {
  return (
    <Card title={say.numbersAreCollected}>
      <div className="ps-card-body">
        <p style={{ margin: 0 }}>{say.howUsageIsAddedUp}</p>
      </div>
      <ScrollBox label={say.whenNumbersCome}>
        <table className="ps-table" aria-label={say.whenNumbersCome}>
          <thead>
            <tr>
              <th scope="col">{say.cluster}</th>
              <th scope="col">{say.sampledSince}</th>
              <th scope="col">{say.firstNumbers}</th>
            </tr>
          </thead>
          <tbody>
            {clusters.map((row) => (
              <tr key={row.cluster_id}>
                <td>
                  <Link to="/clusters/$clusterId/usage" params={{ clusterId: row.cluster_id }} className="ps-link">
                    <Breakable text={row.cluster} />
                  </Link>
                </td>
                <td>
                  <RelTime at={row.observed_since} fallback={say.notYet} />
                </td>
                <td>
                  <First found={row} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Card>
  );
}

function First({ found }: { found: Readiness }) {
  const first = firstOf(found);
  if (!first || first.state === "not_sampled") return <span className="ps-muted">{say.afterTheFirstSample}</span>;
  if (first.state === "computing") return <>{say.beingComputed}</>;
  const at = <RelTime at={first.first_at} />;
  return first.state === "late" ? <span className="ps-warn">{say.late(at)}</span> : at;
}
