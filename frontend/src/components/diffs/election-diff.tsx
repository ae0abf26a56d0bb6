import { Stack } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger, plural } from "@/lib/format";
import type { ElectionDiffData } from "@/lib/types";
import { Notice } from "../notice";
import { PartitionDiff } from "./partition-diff";

type Elected = ElectionDiffData["partitions"][number];

const column = createColumnHelper<Elected>();
const columns = [
  column.accessor("before", {
    header: "Leader before",
    meta: { align: "right" },
    cell: (cell) => cell.getValue() ?? <span className="ps-bad">none</span>,
  }),
  column.accessor("after", { header: "Leader after", meta: { align: "right" } }),
];

function Leaders({ brokers }: { brokers: ElectionDiffData["brokers"] }) {
  return (
    <div className="ps-card">
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Leaders by broker">
          <thead>
            <tr>
              <th scope="col">Broker</th>
              <th scope="col" data-align="right">
                Leads before
              </th>
              <th scope="col" data-align="right">
                Leads after
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
      <PartitionDiff rows={diff.partitions} columns={columns} label="Partitions with another leader" />
      {first && (
        <Notice
          tone="info"
          title={`${plural(diff.blocked_total, "partition")} ${diff.blocked_total === 1 ? "keeps its" : "keep their"} leader`}
        >
          Whom they prefer is not in sync, or not there: {first.topic}-{first.partition} waits for broker {first.after}
          {diff.blocked_total > 1 ? ", and others wait as well" : ""}. Plan again when it has caught up.
        </Notice>
      )}
      {diff.left_out > 0 && (
        <Notice tone="info">{plural(diff.left_out, "partition")} more are left to the next plan.</Notice>
      )}
    </Stack>
  );
}
