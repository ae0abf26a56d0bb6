import { Button } from "@mantine/core";
import { IconPlayerPlay, IconRefresh } from "@tabler/icons-react";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity, Reading } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { latest, missingFor, useCheck } from "@/lib/runbooks";
import { readingExact, readingLabel, readingValue } from "@/lib/readings";
import type { RunbookEntry, RunbookPart, RunbookRunDetail } from "@/lib/types";
import { wordOf } from "@/lib/word-of";
import { words } from "@/words/runbooks";
import { Outcome } from "./outcome";

const say = words.check;

interface CheckProps {
  part: RunbookPart;
  run: RunbookRunDetail | undefined;
  usable: boolean;
}

/** A check: it reads at a click, and shows what it said last in this run. */
export function Check({ part, run, usable }: CheckProps) {
  const entry = run && latest(run.entries, "check", part.number);
  return (
    <div className="ps-step" data-outcome={entry?.outcome}>
      <div className="ps-step-head">
        <div style={{ minWidth: 0 }}>
          <div style={{ fontWeight: 560 }}>{part.text}</div>
          <div className="ps-muted ps-mono" style={{ fontSize: "0.75rem" }}>
            {say.check(part.name)}
          </div>
        </div>
        {run && usable && <RunCheck part={part} run={run} isAgain={entry !== undefined} />}
      </div>
      {entry && <Found entry={entry} />}
    </div>
  );
}

function RunCheck({ part, run, isAgain }: { part: RunbookPart; run: RunbookRunDetail; isAgain: boolean }) {
  const check = useCheck(run.id);
  const missing = missingFor(part, run);
  if (missing.length > 0)
    return (
      <span className="ps-muted" style={{ fontSize: "0.75rem" }}>
        {say.theRunSaysNo(missing.map((name) => wordOf(say.blanks, name)).join(", "))}
      </span>
    );
  return (
    <div>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={say.runTheCheck(part.text)}
        leftSection={isAgain ? <IconRefresh size={13} /> : <IconPlayerPlay size={13} />}
        loading={check.isPending}
        onClick={() => part.number !== null && check.mutate(part.number)}
      >
        {isAgain ? say.again : say.run}
      </Button>
      {check.isError && <ProblemPanel error={check.error} />}
    </div>
  );
}

function Found({ entry }: { entry: RunbookEntry }) {
  const numbers = Object.entries(entry.numbers);
  return (
    <div className="ps-found">
      <Outcome outcome={entry.outcome} />
      <div style={{ minWidth: 0 }}>
        <div style={{ overflowWrap: "anywhere" }}>{entry.text}</div>
        <div className="ps-muted ps-found-facts">
          {numbers.map(([name, value]) => (
            <span key={name}>
              {readingLabel(name)}{" "}
              <strong className="ps-tnum">
                <Reading words={readingValue(name, value)} exact={readingExact(name, value)} />
              </strong>
            </span>
          ))}
          <span>
            {entry.age_s === null
              ? say.nobodyHasReadIt
              : say.oldWhenItWasChecked(<Quantity of="span" value={entry.age_s} />)}
          </span>
          <span>{say.checked(<RelTime at={entry.created_at} />)}</span>
        </div>
      </div>
    </div>
  );
}
