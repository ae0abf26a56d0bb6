import { LAG_SEVERITY, RISK_SEVERITY, type Severity } from "@/generated/constants";
import { words } from "@/words";
import { Hint } from "./hint";

const say = words.statuses;

/** A state that this console does not know yet is shown as the service writes it. */
const isIn = <T extends object>(table: T, name: string): name is Extract<keyof T, string> => Object.hasOwn(table, name);

export type Tone = "ok" | "warn" | "bad" | "run" | "muted";

interface StatusProps {
  tone: Tone;
  label: string;
  pulse?: boolean;
  /** What the state means, one sentence. */
  hint?: string;
}

/** A dot and a word: colour is never the only carrier. */
export function Status({ tone, label, pulse = false, hint }: StatusProps) {
  const body = (
    <span className="ps-status">
      <span className={`ps-dot ps-${tone}`} data-pulse={pulse} aria-hidden />
      <span>{label}</span>
    </span>
  );
  return hint ? <Hint label={hint}>{body}</Hint> : body;
}

const PHASES: Record<keyof typeof say.phase, Tone> = {
  CREATING: "run",
  RUNNING: "ok",
  UPDATING: "run",
  DEGRADED: "warn",
  DELETING: "run",
  FAILED: "bad",
};

export function PhaseStatus({ phase }: { phase: string }) {
  if (!isIn(PHASES, phase)) return <Status tone="muted" label={phase.toLowerCase()} />;
  const tone = PHASES[phase];
  return <Status tone={tone} {...say.phase[phase]} pulse={tone === "run"} />;
}

const GROUP_STATES: Record<keyof typeof say.group, Tone> = {
  stable: "ok",
  empty: "muted",
  dead: "bad",
  preparingrebalance: "run",
  completingrebalance: "run",
  assigning: "run",
  reconciling: "run",
};

export function GroupState({ state }: { state: string }) {
  const known = state.toLowerCase().replace(/[^a-z]/g, "");
  if (!isIn(GROUP_STATES, known)) return <Status tone="muted" label={state} />;
  const tone = GROUP_STATES[known];
  return <Status tone={tone} label={state} hint={say.group[known]} pulse={tone === "run"} />;
}

const TONES: Record<Severity, Tone> = { ok: "ok", unknown: "muted", recovering: "run", warning: "warn", danger: "bad" };
const SEVERITY = { ...LAG_SEVERITY, ...RISK_SEVERITY };

const LAG: Record<keyof typeof SEVERITY, { label: string; hint: string }> = say.lag;
const REASONS: Record<string, { label: string; hint: string }> = say.lagReason;

interface LagStatusProps {
  status: string | null | undefined;
  /** What is true beside the status. */
  reasons?: readonly string[];
}

/** A status that this console does not know yet is shown as the service writes it. */
export function LagStatus({ status, reasons = [] }: LagStatusProps) {
  if (!status) return <span className="ps-muted">–</span>;
  if (!isIn(LAG, status)) return <Status tone="muted" label={status.toLowerCase().replaceAll("_", " ")} />;
  const { label, hint } = LAG[status];
  const more = reasons
    .filter((reason) => reason !== status)
    .flatMap((reason) => (REASONS[reason] ? [REASONS[reason]] : []));
  return (
    <Status
      tone={TONES[SEVERITY[status]]}
      label={[label, ...more.map((reason) => reason.label)].join(", ")}
      hint={[hint, ...more.map((reason) => reason.hint)].join(" ")}
    />
  );
}

const OPERATION: Record<keyof typeof say.operation, Tone> = {
  pending: "muted",
  running: "run",
  verifying: "run",
  cancelling: "warn",
  succeeded: "ok",
  failed: "bad",
  cancelled: "warn",
  reverted: "muted",
};

/** The state in one word, as `OperationStatus` shows it. */
export const operationLabel = (state: string): string => (isIn(OPERATION, state) ? say.operation[state] : state);

export function OperationStatus({ state }: { state: string }) {
  const tone = isIn(OPERATION, state) ? OPERATION[state] : "muted";
  return <Status tone={tone} label={operationLabel(state)} pulse={tone === "run"} />;
}
