import { differenceText } from "@/lib/differences";
import type { Broker } from "@/lib/types";
import { wordOf } from "@/lib/word-of";
import { words } from "@/words/late-parts";
import { Status } from "./status";

const say = words.brokerState;

/** The state of a broker's process in one word. */
export const processWord = (state: string): string => wordOf(say.states, state);

/** Whether a broker is there, and as it was placed; unknown is neither alive nor down. */
export function BrokerState({ broker }: { broker: Broker }) {
  const drift = broker.drift?.map(differenceText).join(" ");
  if (broker.alive && drift) return <Status tone="warn" label={say.notAsPlaced} hint={drift} />;
  if (broker.alive) return <Status tone="ok" label={say.alive} hint={broker.message || undefined} />;
  const state = broker.observed_state || "unknown";
  const starting = ["starting", "running", "backoff"].includes(state);
  return (
    <Status
      tone={starting ? "run" : "bad"}
      label={starting ? processWord(state) : say.down(processWord(state))}
      pulse={starting}
      hint={broker.message || drift || undefined}
    />
  );
}
