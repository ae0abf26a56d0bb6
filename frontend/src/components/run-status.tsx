/** Where a run of the analytics is, in every place that lists runs. */
import type { AnalyticsRun } from "@/lib/types";
import { wordOf } from "@/lib/word-of";
import { words } from "@/words/parts";
import { Status, type Tone } from "./status";

const TONES: Record<AnalyticsRun["state"], Tone> = {
  queued: "muted",
  running: "run",
  succeeded: "ok",
  failed: "bad",
  cancelled: "warn",
};

export function RunStatus({ state }: Pick<AnalyticsRun, "state">) {
  return <Status tone={TONES[state]} label={wordOf(words.runStatus, state)} pulse={state === "running"} />;
}
