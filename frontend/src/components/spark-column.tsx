import { createColumnHelper } from "@tanstack/react-table";
import { type ListOf, useSparkline } from "@/lib/throughput";
import { words } from "@/words/charts";
import { Quantity } from "./quantity";
import { Sparkline } from "./sparkline";

const say = words.sparkColumn;

const WORDS: Record<ListOf, string> = { topic: "written", group: "read", broker: say.writtenAsLeader };

/** What is written to a topic or a leader, or read by a group: the newest rate, and the last hour as a line. */
export function SparkCell({ clusterId, of, name }: { clusterId: string; of: ListOf; name: string }) {
  const { data } = useSparkline(clusterId, of, name);
  if (!data || data.last === null) return <span className="ps-muted">–</span>;
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center", whiteSpace: "nowrap" }}>
      <Sparkline name={`${name}, ${WORDS[of]}`} values={data.values} width={64} />
      <Quantity of="recordRate" value={data.last} />
    </span>
  );
}

/** A column of them for any list: `nameOf` a row. */
export const sparkColumn = <Row,>(clusterId: string, of: ListOf, nameOf: (row: Row) => string) =>
  createColumnHelper<Row>().display({
    id: "rate",
    header: of === "group" ? say.reads : say.writes,
    meta: { align: "right", hideBelow: "md" },
    cell: ({ row }) => <SparkCell clusterId={clusterId} of={of} name={nameOf(row.original)} />,
  });
