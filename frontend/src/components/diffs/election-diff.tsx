import { Stack } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import type { ElectionDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Notice } from "../notice";
import { PartitionDiff } from "./partition-diff";

const say = words.electionDiff;

type Elected = ElectionDiffData["partitions"][number];

const column = createColumnHelper<Elected>();
const columns = [
  column.accessor("before", {
    header: say.leaderBefore,
    meta: { align: "right" },
    cell: (cell) => cell.getValue() ?? <span className="ps-bad">{say.none}</span>,
  }),
  column.accessor("after", { header: say.leaderAfter, meta: { align: "right" } }),
];

function Leaders({ brokers }: { brokers: ElectionDiffData["brokers"] }) {
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label={say.leadersByBroker}>
          <thead>
            <tr>
              <th scope="col">{say.broker}</th>
              <th scope="col" data-align="right">
                {say.leadsBefore}
              </th>
              <th scope="col" data-align="right">
                {say.leadsAfter}
              </th>
            </tr>
          </thead>
          <tbody>
            {brokers.map(({ id, before_leaders, after_leaders }) => (
              <tr key={id}>
                <td>{id}</td>
                <td data-align="right">{formatInteger(before_leaders)}</td>
                <td data-align="right" style={{ fontWeight: before_leaders === after_leaders ? 400 : 620 }}>
                  {formatInteger(after_leaders)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Who leads how much before and after, which partitions change, and which keep their leader for now. */
export function ElectionDiff({ diff }: { diff: ElectionDiffData }) {
  const [first] = diff.blocked;
  return (
    <Stack gap="sm">
      <Leaders brokers={diff.brokers} />
      <PartitionDiff rows={diff.partitions} columns={columns} label={say.partitionsWithAnotherLeader} />
      {first && (
        <Notice tone="info" title={say.partitionsKeepTheirLeader(diff.blocked_total)}>
          {say.whomTheyPreferIsNot(
            first.topic,
            first.partition,
            first.after,
            diff.blocked_total > 1 ? say.andOthersWaitAsWell : "",
          )}
        </Notice>
      )}
      {diff.left_out > 0 && <Notice tone="info">{say.partitionsMoreAreLeftTo(diff.left_out)}</Notice>}
    </Stack>
  );
}
