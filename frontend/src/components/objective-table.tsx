import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import type { ObjectiveRow } from "@/lib/insights";
import { targetWords, verdictRank } from "@/lib/objectives";
import { words } from "@/words/objective-parts";
import { DataTable } from "./data-table";
import { GroupLink } from "./group-link";
import { Quantity } from "./quantity";
import { Status, type Tone } from "./status";

const say = words.objectiveTable;

const VERDICTS: Record<ObjectiveRow["verdict"], [Tone, string]> = {
  within: ["ok", say.within],
  slow_burn: ["warn", say.slowBurn],
  fast_burn: ["bad", say.fastBurn],
  unknown: ["muted", say.notKnown],
};
const NOT_KNOWN = <span className="ps-muted">{say.notKnown2}</span>;

const burn = (rate: number | null) =>
  rate === null ? NOT_KNOWN : <span title={say.timesAsFastAsThe(rate)}>{Math.round(rate * 10) / 10}×</span>;

const column = createColumnHelper<ObjectiveRow>();

/** A rate over one window; two of them have to agree before it is called a burn. */
const rate = (id: "burn_5m" | "burn_30m" | "burn_1h" | "burn_6h", header: string, hideBelow: "sm" | "md") =>
  column.accessor((row) => row[id] ?? -1, {
    id,
    header,
    meta: { align: "right", hideBelow },
    cell: ({ row }) => burn(row.original[id]),
  });

const common = (clusterId: string) => [
  column.accessor("topic", {
    header: say.topic,
    cell: ({ getValue }) => (
      <Link
        to="/clusters/$clusterId/topics/$topic"
        params={{ clusterId, topic: getValue() }}
        className="ps-link ps-mono"
      >
        {getValue()}
      </Link>
    ),
  }),
  column.accessor((row) => verdictRank(row.verdict), {
    id: "verdict",
    header: say.state,
    cell: ({ row }) => {
      const [tone, label] = VERDICTS[row.original.verdict];
      return <Status tone={tone} label={label} />;
    },
  }),
  column.accessor("seconds", {
    header: say.objective,
    meta: { hideBelow: "md" },
    cell: ({ row: { original: row } }) => (
      <>
        <span title={targetWords(row)} style={{ whiteSpace: "nowrap" }}>
          ≤ <Quantity of="span" value={row.seconds} />, <Quantity of="preciseShare" value={row.share} />
        </span>
        {row.objective_id === null && (
          <span className="ps-tag" data-tone="muted">
            {say.defaultWord}
          </span>
        )}
      </>
    ),
  }),
  column.accessor((row) => row.good_share ?? -1, {
    id: "good",
    header: say.inTime,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ row }) => <Quantity of="share" value={row.original.good_share} none={say.notKnown2} />,
  }),
  column.accessor((row) => row.budget_left ?? Number.NEGATIVE_INFINITY, {
    id: "budget",
    header: say.budgetLeft,
    meta: { align: "right" },
    cell: ({ row: { original: row } }) =>
      row.budget_left === null ? (
        NOT_KNOWN
      ) : (
        <Quantity of="budget" value={row.budget_left} className={row.budget_left < 0 ? "ps-bad" : undefined} />
      ),
  }),
  rate("burn_5m", say.burn5Min, "md"),
  rate("burn_30m", say.burn30Min, "md"),
  rate("burn_1h", say.burn1H, "sm"),
  rate("burn_6h", say.burn6H, "sm"),
  column.accessor("unknown", {
    header: say.notKnown,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row: { original: row } }) => say.ofWindows(row.unknown, row.good + row.bad + row.unknown),
  }),
];

const groups = (clusterId: string) =>
  column.accessor("group", {
    header: say.group,
    cell: ({ getValue }) => <GroupLink clusterId={clusterId} group={getValue()} />,
  });

interface ObjectiveTableProps {
  rows: ObjectiveRow[];
  clusterId: string;
  /** Of one group, whose page it is. */
  isOfOne?: boolean;
}

/** How fast groups use up the time that they may be late; what burns first. */
export function ObjectiveTable({ rows, clusterId, isOfOne = false }: ObjectiveTableProps) {
  return (
    <DataTable
      rows={rows}
      columns={isOfOne ? common(clusterId) : [groups(clusterId), ...common(clusterId)]}
      rowId={(row) => JSON.stringify([row.group, row.topic])}
      label={say.objectives}
      defaultSort="verdict"
      pageSize={20}
    />
  );
}
