import { Card } from "@/components/card";
import { BytesMoved } from "@/components/move-progress";
import { Assignment } from "@/components/replicas";
import { formatInteger } from "@/lib/format";
import type { ActiveReassignments } from "@/lib/types";

/** What the brokers say is moving right now, whoever asked for it: the first rows of it. */
export function ActiveMoves({ moves }: { moves: ActiveReassignments | null | undefined }) {
  if (!moves || moves.total === 0) return null;
  return (
    <Card title={`On the move now: ${formatInteger(moves.total)}`}>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Partitions on the move">
          <thead>
            <tr>
              <th scope="col">Partition</th>
              <th scope="col">Replicas while it moves</th>
              <th scope="col">Will leave</th>
              <th scope="col">Copied</th>
            </tr>
          </thead>
          <tbody>
            {moves.rows.map((row) => (
              <tr key={`${row.topic}-${row.partition}`}>
                <td className="ps-mono">
                  {row.topic}-{row.partition}
                </td>
                <td>
                  <Assignment
                    ids={row.replicas}
                    other={row.replicas.filter((id) => !row.adding.includes(id))}
                    mark="added"
                  />
                </td>
                <td>
                  {row.removing.length > 0 ? (
                    <Assignment ids={row.removing} other={[]} mark="removed" />
                  ) : (
                    <span className="ps-muted">none</span>
                  )}
                </td>
                <td>
                  <BytesMoved moved={row.bytes_moved} total={row.bytes_to_move} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
