import { AsOf } from "@/components/as-of";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { GroupLink } from "@/components/group-link";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { Sparkline } from "@/components/sparkline";
import { type Consumed, type Consumption, lastOf, usePartitionReaders } from "@/lib/consumption";
import { isRefusal } from "@/lib/problem";
import { useNow } from "@/lib/use-now";
import { words } from "@/words/topic-partitions";

const say = words.partitionReaders;

interface PartitionReadersProps {
  clusterId: string;
  topic: string;
  partition: number;
}

/** The groups that commit on a partition, and what each of them has read of it in the last hour. */
export function PartitionReaders({ clusterId, topic, partition }: PartitionReadersProps) {
  const query = usePartitionReaders(clusterId, topic, partition);
  const found = query.data;
  if (!found && isRefusal(query)) return null;
  return (
    <Card
      title={say.title(partition)}
      aside={
        <span style={{ fontSize: "0.75rem" }}>
          <AsOf at={found?.as_of} staleAfter={found?.stale_after} />
        </span>
      }
    >
      {query.isPending && <Lines rows={3} />}
      {!query.isPending && !found && (
        <div className="ps-card-body">
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {found && <Readers found={found} clusterId={clusterId} partition={partition} />}
      {found && (
        <div className="ps-legend ps-facts">
          {query.isError && <span className="ps-warn">{say.couldNotBeReadAgain}</span>}
          {found.reason && <span className="ps-warn">{found.reason}</span>}
          <span>{say.byCommits}</span>
        </div>
      )}
    </Card>
  );
}

function Readers({ found, clusterId, partition }: { found: Consumption; clusterId: string; partition: number }) {
  // Where something is missing its reason is said, and not that there is nobody.
  if (found.rows.length === 0 && !found.complete) return null;
  if (found.rows.length === 0) return <Empty title={say.nobodyCommits}>{say.whenOneDoes}</Empty>;
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.title(partition)}>
        <thead>
          <tr>
            <th scope="col">{say.group}</th>
            <th scope="col" data-align="right">
              {say.now}
            </th>
            <th scope="col" data-align="right">
              {say.lastHour}
            </th>
          </tr>
        </thead>
        <tbody>
          {found.rows.map((row) => (
            <ReaderRow key={row.group} row={row} staleAfter={found.stale_after} clusterId={clusterId} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ReaderRow({ row, staleAfter, clusterId }: { row: Consumed; staleAfter: string | null; clusterId: string }) {
  const now = useNow();
  return (
    <tr>
      <td>
        <GroupLink clusterId={clusterId} group={row.group} />
      </td>
      <td data-align="right">
        <Quantity of="recordRate" value={lastOf({ row, staleAfter }, now)} none={say.notKnown} isKey />
      </td>
      <td data-align="right">
        <Sparkline name={say.lineOf(row.group, row.partition)} values={row.values} width={120} />
      </td>
    </tr>
  );
}
