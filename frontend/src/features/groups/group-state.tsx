import { Empty } from "@/components/empty";
import { formatInteger } from "@/lib/format";
import type { GroupDetail } from "@/lib/types";

/** Per topic: how much is held, how much of it is unread. */
export function GroupState({ group }: { group: GroupDetail }) {
  const topics = [...new Set(group.offsets.map((row) => row.topic))].sort();
  if (topics.length === 0) return <Empty title="No committed offsets">There is nothing to reset yet.</Empty>;
  return (
    <table className="ps-table" aria-label="Committed offsets by topic">
      <thead>
        <tr>
          <th scope="col">Topic</th>
          <th scope="col" data-align="right">
            Held
          </th>
          <th scope="col" data-align="right">
            Unread
          </th>
        </tr>
      </thead>
      <tbody>
        {topics.map((topic) => {
          const rows = group.offsets.filter((row) => row.topic === topic);
          const held = rows.reduce((sum, row) => sum + Math.max(0, (row.log_end ?? 0) - (row.log_start ?? 0)), 0);
          const lag = rows.reduce((sum, row) => sum + (row.lag ?? 0), 0);
          return (
            <tr key={topic}>
              <td className="ps-mono">{topic}</td>
              <td data-align="right">{formatInteger(held)}</td>
              <td data-align="right">{formatInteger(lag)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
