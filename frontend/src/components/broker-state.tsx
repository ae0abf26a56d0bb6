import type { Broker } from "@/lib/types";
import { Status } from "./status";

/** Whether a broker is there, and as it was placed; unknown is neither alive nor down. */
export function BrokerState({ broker }: { broker: Broker }) {
  const drift = broker.drift?.map((row) => row.text).join(" ");
  if (broker.alive && drift) return <Status tone="warn" label="Not as placed" hint={drift} />;
  if (broker.alive) return <Status tone="ok" label="Alive" hint={broker.message || undefined} />;
  const state = broker.observed_state || "unknown";
  const starting = ["starting", "running", "backoff"].includes(state);
  return (
    <Status
      tone={starting ? "run" : "bad"}
      label={starting ? state : `Down (${state})`}
      pulse={starting}
      hint={broker.message || drift || undefined}
    />
  );
}
