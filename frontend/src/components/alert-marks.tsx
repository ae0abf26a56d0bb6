/** How alerts, and what belongs to them, are marked in every place. */
import type { Alert, AlertSeverity } from "@/lib/types";
import { words } from "@/words/parts";
import { Hint } from "./hint";
import { Status, type Tone } from "./status";

const say = words.alertMarks;

const SEVERITIES: Record<AlertSeverity, [tone: Tone, label: string, hint: string]> = {
  critical: ["bad", say.critical, say.dataOrServiceIsBeing],
  warning: ["warn", say.warning, say.itWillDoHarmWhen],
  info: ["run", say.info, say.nothingHasToBeDone],
};

export function SeverityMark({ severity }: { severity: AlertSeverity }) {
  const [tone, label, hint] = SEVERITIES[severity];
  return <Status tone={tone} label={label} hint={hint} />;
}

const STATES: Record<Alert["state"], [tone: Tone, label: string]> = {
  firing: ["bad", say.firing],
  acknowledged: ["run", say.acknowledged],
  resolved: ["ok", say.resolved],
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
      {open && alert.unknown && <Tag hint={say.itCouldNotBeAsked}>{say.notKnownNow}</Tag>}
      {open && !alert.unknown && alert.clearing && <Tag hint={say.itHoldsNoMoreBut}>{say.clearing}</Tag>}
      {open && alert.silenced_by && <Tag hint={say.noNotificationsAreSentWhile}>{say.silenced}</Tag>}
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
