import { Empty } from "@/components/empty";
import { formatInteger } from "@/lib/format";
import type { GroupDetail } from "@/lib/types";
import { words } from "@/words/groups";

const say = words.groupState;

/** The sum; not known while a part of it is not. */
function total(values: (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

/** Per topic: how much is held, how much of it is unread. */
export function GroupState({ group }: { group: GroupDetail }) {
  const topics = [...new Set(group.offsets.map((row) => row.topic))].sort();
  if (topics.length === 0) return <Empty title={say.noCommittedOffsets}>{say.nothingToReset}</Empty>;
  return (
    <table className="ps-table" aria-label={say.committedByTopic}>
      <thead>
        <tr>
          <th scope="col">{say.topic}</th>
          <th scope="col" data-align="right">
            {say.held}
          </th>
          <th scope="col" data-align="right">
            {say.lag}
          </th>
        </tr>
      </thead>
      <tbody>
        {topics.map((topic) => {
          const rows = group.offsets.filter((row) => row.topic === topic);
          const held = total(
            rows.map((row) => (row.log_start === null || row.log_end === null ? null : row.log_end - row.log_start)),
          );
          const least = total(rows.map((row) => row.unread_at_least));
          const most = total(rows.map((row) => row.unread_at_most));
          return (
            <tr key={topic}>
              <td className="ps-mono">{topic}</td>
              <td data-align="right">{formatInteger(held)}</td>
              <td data-align="right">
                {least === most ? formatInteger(least) : say.between(formatInteger(least), formatInteger(most))}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
