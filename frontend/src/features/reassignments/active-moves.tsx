import { Card } from "@/components/card";
import { Assignment } from "@/components/replicas";
import { formatInteger } from "@/lib/format";
import type { ActiveReassignment } from "@/lib/types";

/** Rows shown; a large move has its own operation page. */
const SHOWN = 20;

/** What the brokers say is moving right now, whoever asked for it. */
export function ActiveMoves({ rows }: { rows: ActiveReassignment[] }) {
  if (rows.length === 0) return null;
  return (
    <Card title={`On the move now: ${formatInteger(rows.length)}`}>
      <div className="ps-table-wrap">
        <table className="ps-table" aria-label="Partitions on the move">
          <thead>
            <tr>
              <th scope="col">Partition</th>
              <th scope="col">Replicas while it moves</th>
              <th scope="col">Will leave</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
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
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
