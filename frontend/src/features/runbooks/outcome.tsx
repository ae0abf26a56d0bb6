import { Status, type Tone } from "@/components/status";
import type { RunbookEntry, RunbookRun } from "@/lib/types";
import { words } from "@/words/runbooks";

const say = words.outcome;

const OUTCOMES: Record<RunbookEntry["outcome"], [tone: Tone, label: string]> = {
  ok: ["ok", say.ok],
  bad: ["bad", say.bad],
  unknown: ["muted", say.notKnown],
  planned: ["run", say.planned],
};

export function Outcome({ outcome }: { outcome: RunbookEntry["outcome"] }) {
  const [tone, label] = OUTCOMES[outcome];
  return <Status tone={tone} label={label} />;
}

const RUNS: Record<RunbookRun["state"], [tone: Tone, label: string]> = {
  open: ["run", say.open],
  resolved: ["ok", say.resolved],
  unresolved: ["bad", say.unresolved],
  escalated: ["warn", say.escalated],
  abandoned: ["muted", say.abandoned],
};

export function RunState({ state }: { state: RunbookRun["state"] }) {
  const [tone, label] = RUNS[state];
  return <Status tone={tone} label={label} />;
}
