/** How alerts, and what belongs to them, are marked in every place. */
import type { Alert, AlertSeverity } from "@/lib/types";
import { Hint } from "./hint";
import { Status, type Tone } from "./status";

const SEVERITIES: Record<AlertSeverity, [tone: Tone, label: string, hint: string]> = {
  critical: ["bad", "Critical", "Data or service is being lost, or will be soon."],
  warning: ["warn", "Warning", "It will do harm when nobody does anything."],
  info: ["run", "Info", "Nothing has to be done now."],
};

export function SeverityMark({ severity }: { severity: AlertSeverity }) {
  const [tone, label, hint] = SEVERITIES[severity];
  return <Status tone={tone} label={label} hint={hint} />;
}

const STATES: Record<Alert["state"], [tone: Tone, label: string]> = {
  firing: ["bad", "Firing"],
  acknowledged: ["run", "Acknowledged"],
  resolved: ["ok", "Resolved"],
};

export const stateWord = (state: string): string =>
  Object.hasOwn(STATES, state) ? STATES[state as Alert["state"]][1] : state;

type Marked = Pick<Alert, "state" | "unknown" | "clearing" | "silenced_by">;

/** The state, and what is true beside it: not known now, about to resolve, silenced. */
export function AlertState({ alert }: { alert: Marked }) {
  const [tone, label] = STATES[alert.state];
  const open = alert.state !== "resolved";
  return (
    <span>
      <Status tone={tone} label={label} />
      {open && alert.unknown && (
        <Tag hint="It could not be asked now. It stays as it was last known, and does not resolve by itself.">
          not known now
        </Tag>
      )}
      {open && !alert.unknown && alert.clearing && (
        <Tag hint="It holds no more, but not yet for long enough to be resolved.">clearing</Tag>
      )}
      {open && alert.silenced_by && <Tag hint="No notifications are sent while the silence lasts.">silenced</Tag>}
    </span>
  );
}

function Tag({ hint, children }: { hint: string; children: string }) {
  return (
    <Hint label={hint}>
      <span className="ps-tag" data-tone="muted">
        {children}
      </span>
    </Hint>
  );
}
