import { Quantity } from "@/components/quantity";
import { Sparkline } from "@/components/sparkline";
import { lastOf, useConsumed } from "@/lib/consumption";
import { useNow } from "@/lib/use-now";
import { words } from "@/words/groups";

const say = words.offsetTable;

interface ConsumedCellProps {
  clusterId: string;
  group: string;
  topic: string;
  partition: number;
}

/** What the group reads of a partition: the newest rate, and the last hour as a line. */
export function ConsumedCell({ clusterId, group, topic, partition }: ConsumedCellProps) {
  const { data } = useConsumed(clusterId, group, topic, partition);
  const now = useNow();
  const isKnown = data?.row.values.some((value) => value !== null) ?? false;
  if (!data || !isKnown) return <span className="ps-muted">{say.notKnown}</span>;
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center", whiteSpace: "nowrap" }}>
      <Sparkline name={say.consumedOf(topic, partition)} values={data.row.values} width={64} />
      <Quantity of="recordRate" value={lastOf(data, now)} none={say.notKnown} />
    </span>
  );
}
