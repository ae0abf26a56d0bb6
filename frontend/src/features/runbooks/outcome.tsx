import { Status, type Tone } from "@/components/status";
import type { RunbookEntry, RunbookRun } from "@/lib/types";

const OUTCOMES: Record<RunbookEntry["outcome"], [tone: Tone, label: string]> = {
  ok: ["ok", "OK"],
  bad: ["bad", "Bad"],
  unknown: ["muted", "Not known"],
  planned: ["run", "Planned"],
};

export function Outcome({ outcome }: { outcome: RunbookEntry["outcome"] }) {
  const [tone, label] = OUTCOMES[outcome];
  return <Status tone={tone} label={label} />;
}

const RUNS: Record<RunbookRun["state"], [tone: Tone, label: string]> = {
  open: ["run", "Open"],
  resolved: ["ok", "Resolved"],
  unresolved: ["bad", "Unresolved"],
  escalated: ["warn", "Escalated"],
  abandoned: ["muted", "Abandoned"],
};

export function RunState({ state }: { state: RunbookRun["state"] }) {
  const [tone, label] = RUNS[state];
  return <Status tone={tone} label={label} />;
}
