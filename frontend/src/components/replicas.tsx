import { words } from "@/words/parts";
import { Hint } from "./hint";

const say = words.replicas;

/** The replicas of a partition in assignment order: leader filled, in sync plain, behind dashed. */
export function Replicas({ replicas, isr, leader }: { replicas: number[]; isr: number[]; leader: number | null }) {
  return (
    <span className="ps-chips">
      {replicas.map((id) => {
        const kind = id === leader ? "leader" : isr.includes(id) ? "synced" : "behind";
        const hint = { leader: "leader", synced: say.inSync, behind: say.notInSync }[kind];
        return (
          <Hint key={id} label={say.broker(id, hint)}>
            <span className="ps-chip" data-kind={kind}>
              {id}
              <span className="ps-sr"> ({hint})</span>
            </span>
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
