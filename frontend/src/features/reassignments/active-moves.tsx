import { BytesMoved } from "@/components/move-progress";
import { Assignment } from "@/components/replicas";
import type { ActiveReassignments } from "@/lib/types";
import { words } from "@/words/reassignments";

const say = words.activeMoves;

/** What the brokers say is moving right now, whoever asked for it: the first rows of it. */
export function ActiveMoves({ moves }: { moves: ActiveReassignments }) {
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.partitionsOnTheMove}>
        <thead>
          <tr>
            <th scope="col">{say.partition}</th>
            <th scope="col">{say.replicasWhileItMoves}</th>
            <th scope="col">{say.willLeave}</th>
            <th scope="col">{say.copied}</th>
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
                  <span className="ps-muted">{say.none}</span>
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
  );
}
