import { LAG_SEVERITY, RISK_SEVERITY, type Severity } from "@/generated/constants";
import { Hint } from "./hint";

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

const PHASES: Record<string, [Tone, string, string]> = {
  CREATING: ["run", "Creating", "Brokers are being placed and started."],
  RUNNING: ["ok", "Running", "All brokers are registered and serving."],
  UPDATING: ["run", "Updating", "A change is being rolled out."],
  DEGRADED: ["warn", "Degraded", "At least one broker is not serving."],
  DELETING: ["run", "Deleting", "Brokers and their data are being removed."],
  FAILED: ["bad", "Failed", "The last change did not succeed."],
};

export function PhaseStatus({ phase }: { phase: string }) {
  const [tone, label, hint] = PHASES[phase] ?? ["muted", phase.toLowerCase(), undefined];
  return <Status tone={tone} label={label} hint={hint} pulse={tone === "run"} />;
}

const GROUP_STATES: Record<string, [Tone, string]> = {
  stable: ["ok", "Members are assigned and consuming."],
  empty: ["muted", "No members; committed offsets are kept until they expire."],
  dead: ["bad", "The group no longer exists on its coordinator."],
  preparingrebalance: ["run", "Members are joining."],
  completingrebalance: ["run", "Partitions are being assigned."],
  assigning: ["run", "Partitions are being assigned."],
  reconciling: ["run", "Members are taking over their new partitions."],
};

export function GroupState({ state }: { state: string }) {
  const [tone, hint] = GROUP_STATES[state.toLowerCase().replace(/[^a-z]/g, "")] ?? ["muted", undefined];
  return <Status tone={tone} label={state} hint={hint} pulse={tone === "run"} />;
}

const TONES: Record<Severity, Tone> = { ok: "ok", unknown: "muted", recovering: "run", warning: "warn", danger: "bad" };
const SEVERITY = { ...LAG_SEVERITY, ...RISK_SEVERITY };

const LAG: Record<keyof typeof SEVERITY, [label: string, hint: string]> = {
  CAUGHT_UP: ["Caught up", "Reads keep pace with writes."],
  CATCHING_UP: ["Catching up", "Lag is above its norm and shrinking."],
  FALLING_BEHIND: ["Falling behind", "Lag grows."],
  NOT_COMMITTING: ["Not committing", "Members are present, but partitions that hold records have no commit."],
  LAGGING: ["Lagging", "Lag is above its norm and steady."],
  STALLED: ["Stalled", "Members are present but the committed offset does not move."],
  STOPPED: ["Stopped", "Nobody consumes while records arrive."],
  REWOUND: ["Rewound", "The committed offset went back."],
  DATA_LOST: ["Data lost", "Records expired before this group read them."],
  NO_COMMIT: ["No commit", "The group has not committed an offset here."],
  UNKNOWN: ["Unknown", "Too few samples to tell."],
  SAFE: ["Safe", "Unread records are far from their expiry."],
  WATCH: ["Watch", "Unread records approach their expiry."],
  AT_RISK: ["At risk", "At its present pace the group loses unread records to retention."],
  LOSING: ["Losing data", "Unread records have already expired."],
};

const isLag = (status: string): status is keyof typeof SEVERITY => status in SEVERITY;

const REASONS: Record<string, [label: string, hint: string]> = {
  PARTIAL_COMMIT: ["some partitions not started", "Some partitions have no commit; the state is that of the others."],
  REWOUND: ["rewound", "The committed offset went back."],
};

interface LagStatusProps {
  status: string | null | undefined;
  /** What is true beside the status. */
  reasons?: readonly string[];
}

/** A status that this console does not know yet is shown as the service writes it. */
export function LagStatus({ status, reasons = [] }: LagStatusProps) {
  if (!status) return <span className="ps-muted">–</span>;
  if (!isLag(status)) return <Status tone="muted" label={status.toLowerCase().replaceAll("_", " ")} />;
  const [label, hint] = LAG[status];
  const more = reasons
    .filter((reason) => reason !== status)
    .flatMap((reason) => (REASONS[reason] ? [REASONS[reason]] : []));
  return (
    <Status
      tone={TONES[SEVERITY[status]]}
      label={[label, ...more.map(([words]) => words)].join(", ")}
      hint={[hint, ...more.map(([, sentence]) => sentence)].join(" ")}
    />
  );
}

const OPERATION: Record<string, [Tone, string]> = {
  pending: ["muted", "Pending"],
  running: ["run", "Running"],
  verifying: ["run", "Verifying"],
  cancelling: ["warn", "Cancelling"],
  succeeded: ["ok", "Verified"],
  failed: ["bad", "Failed"],
  cancelled: ["warn", "Cancelled"],
  reverted: ["muted", "Undone"],
};

/** The state in one word, as `OperationStatus` shows it. */
export const operationLabel = (state: string): string => OPERATION[state]?.[1] ?? state;

export function OperationStatus({ state }: { state: string }) {
  const [tone, label] = OPERATION[state] ?? ["muted", state];
  return <Status tone={tone} label={label} pulse={tone === "run"} />;
}
