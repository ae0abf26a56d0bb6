import { Link } from "@tanstack/react-router";
import { AsOf } from "@/components/as-of";
import { Card } from "@/components/card";
import { Empty } from "@/components/empty";
import { KeptFor, Quantity } from "@/components/quantity";
import { LagStatus } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { lossExactly, lossIn } from "@/lib/lag";
import type { Retention } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.expiryTable;

/** Seconds until the first unread record of `group` expires, over all its topics. */
export function soonestExpiry(gold: Retention | null | undefined, group: string): number | null {
  const times = (gold?.data ?? [])
    .flatMap((row) => row.groups)
    .filter((row) => row.group === group && row.oldest_unread_expires_in_s !== null)
    .map((row) => row.oldest_unread_expires_in_s as number);
  return times.length > 0 ? Math.min(...times) : null;
}

interface ExpiryTableProps {
  gold: Retention;
  group: string;
  clusterId: string;
}

/** Per topic of a group: how long records are kept and when the oldest unread one goes. */
export function ExpiryTable({ gold, group, clusterId }: ExpiryTableProps) {
  const rows = gold.data.flatMap((topic) =>
    topic.groups.filter((row) => row.group === group).map((row) => ({ topic, row })),
  );
  return (
    <Card
      title={say.whenUnreadExpire}
      aside={
        <span style={{ fontSize: "0.75rem" }}>
          <AsOf at={gold.as_of} staleAfter={gold.stale_after} />
        </span>
      }
    >
      {rows.length === 0 ? (
        <Empty title={say.nothingKnownYet}>{say.theNextRunWorksItOut}</Empty>
      ) : (
        <div className="ps-table-wrap">
          <table className="ps-table" aria-label={say.expiryOfUnread}>
            <thead>
              <tr>
                <th scope="col">{say.topic}</th>
                <th scope="col">{say.risk}</th>
                <th scope="col" data-align="right" className="ps-hide-sm">
                  {say.keptFor}
                </th>
                <th scope="col" data-align="right">
                  {say.firstLoss}
                </th>
                <th scope="col" data-align="right" className="ps-hide-sm">
                  {say.oldestUnreadExpires}
                </th>
                <th scope="col" data-align="right" className="ps-hide-sm">
                  {say.lostUnread}
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ topic, row }) => (
                <tr key={topic.topic}>
                  <td>
                    <Link
                      to="/clusters/$clusterId/topics/$topic"
                      params={{ clusterId, topic: topic.topic }}
                      className="ps-link ps-mono"
                    >
                      {topic.topic}
                    </Link>
                  </td>
                  <td>
                    <LagStatus status={row.status} />
                  </td>
                  <td data-align="right" className="ps-hide-sm">
                    <KeptFor ms={topic.retention_ms} none="–" />
                  </td>
                  <td data-align="right">
                    {row.oldest_unread_expires_in_s === null ? (
                      <span className="ps-muted">–</span>
                    ) : (
                      <span title={lossExactly(row)}>{lossIn(row)}</span>
                    )}
                  </td>
                  <td data-align="right" className="ps-hide-sm">
                    {row.oldest_unread_expires_in_s === null ? (
                      <span className="ps-muted">{say.nothingUnread}</span>
                    ) : (
                      say.within(<Quantity of="span" value={row.oldest_unread_expires_in_s} />)
                    )}
                  </td>
                  <td data-align="right" className="ps-hide-sm">
                    {row.lost_records ? (
                      <span className="ps-bad">{formatInteger(row.lost_records)}</span>
                    ) : (
                      <span className="ps-muted">{say.none}</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
