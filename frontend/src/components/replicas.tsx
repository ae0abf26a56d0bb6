import { Link } from "@tanstack/react-router";
import { words } from "@/words/late-parts";
import { Hint } from "./hint";

const say = words.replicas;

interface ReplicasProps {
  clusterId: string;
  replicas: number[];
  isr: number[];
  leader: number | null;
}

/** The replicas of a partition in assignment order: leader filled, in sync plain, behind dashed; each leads to its broker. */
export function Replicas({ clusterId, replicas, isr, leader }: ReplicasProps) {
  return (
    <span className="ps-chips">
      {replicas.map((id) => {
        const kind = id === leader ? "leader" : isr.includes(id) ? "synced" : "behind";
        const hint = { leader: say.leader, synced: say.inSync, behind: say.notInSync }[kind];
        return (
          <Hint key={id} label={say.broker(id, hint)}>
            <Link
              to="/clusters/$clusterId/brokers/$broker"
              params={{ clusterId, broker: String(id) }}
              className="ps-chip"
              data-kind={kind}
            >
              {id}
              <span className="ps-sr"> ({hint})</span>
            </Link>
          </Hint>
        );
      })}
    </span>
  );
}

/** An assignment compared with another one: what is added and what goes. */
export function Assignment({ ids, other, mark }: { ids: number[]; other: number[]; mark: "added" | "removed" }) {
  return (
    <span className="ps-chips">
      {ids.map((id) => (
        <span key={id} className="ps-chip" data-kind={other.includes(id) ? undefined : mark}>
          {id}
        </span>
      ))}
    </span>
  );
}
