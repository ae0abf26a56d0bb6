import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { Quantity } from "@/components/quantity";
import { LagStatus } from "@/components/status";
import type { Retention } from "@/lib/types";
import { words } from "@/words/topics";

const say = words.topicPage;

/** When the first unread record of each group expires. */
export function Expiry({ gold, topic, clusterId }: { gold: Retention; topic: string; clusterId: string }) {
  const groups = gold.data.find((row) => row.topic === topic)?.groups ?? [];
  if (groups.length === 0) return <Empty title={say.noExpiryKnown}>{say.whenAGroupAppears}</Empty>;
  return (
    <table className="ps-table" aria-label={say.expiryOfUnreadRecords}>
      <thead>
        <tr>
          <th scope="col">{say.group}</th>
          <th scope="col">{say.risk}</th>
          <th scope="col" data-align="right">
            {say.oldestUnreadExpires}
          </th>
        </tr>
      </thead>
      <tbody>
        {groups.map((row) => (
          <tr key={row.group}>
            <td>
              <GroupLink clusterId={clusterId} group={row.group} />
            </td>
            <td>
              <LagStatus status={row.status} />
            </td>
            <td data-align="right">
              {row.oldest_unread_expires_in_s === null ? (
                <span className="ps-muted">{say.nothingUnread}</span>
              ) : (
                say.expiresIn(<Quantity of="span" value={row.oldest_unread_expires_in_s} />)
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
