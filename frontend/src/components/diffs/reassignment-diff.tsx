import { Stack } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import { formatInteger } from "@/lib/format";
import { exactly } from "@/lib/quantities";
import type { ReassignmentDiffData } from "@/lib/types";
import { words } from "@/words/diffs";
import { Notice } from "../notice";
import { Assignment } from "../replicas";
import { PartitionDiff } from "./partition-diff";
import { Quantity } from "../quantity";

const say = words.reassignmentDiff;

type Move = ReassignmentDiffData["partitions"][number];
type BrokerLoad = ReassignmentDiffData["brokers"][number];

const count = (value: number | null) => (value === null ? "unknown" : formatInteger(value));

function Bytes({ of }: { of: number | null }) {
  return of === null ? <span className="ps-warn">{say.unknown}</span> : <Quantity of="bytes" value={of} />;
}

const move = createColumnHelper<Move>();
const moveColumns = [
  move.display({
    id: "before",
    header: say.before,
    cell: ({ row }) => <Assignment ids={row.original.before} other={row.original.after} mark="removed" />,
  }),
  move.display({
    id: "after",
    header: say.after,
    cell: ({ row }) => <Assignment ids={row.original.after} other={row.original.before} mark="added" />,
  }),
  move.accessor("bytes", {
    header: say.toMove,
    meta: { align: "right" },
    cell: (cell) => <Bytes of={cell.getValue()} />,
  }),
];

function Loads({ brokers }: { brokers: BrokerLoad[] }) {
  const top = Math.max(1, ...brokers.map((broker) => Math.max(broker.before_bytes ?? 0, broker.after_bytes ?? 0)));
  const bar = (bytes: number | null, colour: string) => (
    <div
      style={{
        height: 7,
        width: `${(100 * (bytes ?? 0)) / top}%`,
        minWidth: bytes ? 2 : 0,
        background: colour,
        borderRadius: 2,
      }}
    />
  );
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.brokersBeforeAndAfter}>
        <thead>
          <tr>
            <th scope="col">{say.broker}</th>
            <th scope="col" className="ps-hide-sm" style={{ width: "36%" }}>
              {say.dataBeforeAndAfter}
            </th>
            <th scope="col" data-align="right">
              {say.bytes}
            </th>
            <th scope="col" data-align="right">
              {say.replicas}
            </th>
            <th scope="col" data-align="right">
              {say.leads}
            </th>
            <th scope="col" data-align="right">
              {say.sharingARack}
            </th>
          </tr>
        </thead>
        <tbody>
          {brokers.map((broker) => (
            <tr key={broker.id}>
              <td>{broker.id}</td>
              <td className="ps-hide-sm" aria-hidden>
                <Stack gap={3}>
                  {bar(broker.before_bytes, "var(--mantine-color-gray-5)")}
                  {bar(broker.after_bytes, "var(--ps-accent)")}
                </Stack>
              </td>
              <td data-align="right">
                <Bytes of={broker.before_bytes} /> <span className="ps-arrow">→</span> <Bytes of={broker.after_bytes} />
              </td>
              <td data-align="right">
                {count(broker.before_replicas)} <span className="ps-arrow">→</span> {count(broker.after_replicas)}
              </td>
              <td data-align="right">
                {count(broker.before_leaders)} <span className="ps-arrow">→</span> {count(broker.after_leaders)}
              </td>
              <td data-align="right">
                {count(broker.before_rack_violations)} <span className="ps-arrow">→</span>{" "}
                {count(broker.after_rack_violations)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Balanced = NonNullable<ReassignmentDiffData["balance"]>;
const percent = (share: number) => `${Math.round(share * 100)} %`;

/** The same, not rounded. */
const tolerances = ({ bytes_tolerance, replicas_tolerance, leaders_tolerance }: Balanced): string => {
  const replicas = exactly("share", replicas_tolerance);
  const leaders = exactly("share", leaders_tolerance);
  if (bytes_tolerance === null) return say.tolerances(replicas, leaders);
  return say.tolerancesOfBytes(exactly("share", bytes_tolerance), replicas, leaders);
};

/** The sentence about it. */
function balanceWords({ bytes_tolerance, replicas_tolerance, leaders_tolerance }: Balanced): string {
  const leaders = percent(leaders_tolerance);
  if (bytes_tolerance === null) return say.balancedByNumber(leaders);
  return say.balancedByBytes(percent(bytes_tolerance), percent(replicas_tolerance), leaders);
}

/** What was balanced and how closely, and what the plan does not reach. */
function Balance({ diff }: { diff: ReassignmentDiffData }) {
  const { balance, limits } = diff;
  return (
    <>
      {balance && (
        <div className="ps-muted" title={tolerances(balance)}>
          {balanceWords(balance)}
        </div>
      )}
      {limits.length > 0 && (
        <Notice tone="info" title={say.whatThisPlanDoesNot}>
          <ul aria-label={say.limitsOfThePlan}>
            {limits.map((limit) => (
              <li key={`${limit.code}${limit.broker}`}>
                {limit.broker === null ? "" : say.broker2(limit.broker)}
                {limit.text}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}

/** Which replicas move, how many bytes travel, and what each broker holds before and after. */
export function ReassignmentDiff({ diff }: { diff: ReassignmentDiffData }) {
  return (
    <Stack gap="sm">
      <PartitionDiff rows={diff.partitions} columns={moveColumns} label={say.partitionMoves} />
      <Balance diff={diff} />
      {diff.brokers.length > 0 && (
        <div className="ps-card">
          <Loads brokers={diff.brokers} />
        </div>
      )}
    </Stack>
  );
}
