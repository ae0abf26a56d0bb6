import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useState } from "react";
import { Card } from "@/components/card";
import { ProblemPanel } from "@/components/problem-panel";
import { anchorOf } from "@/lib/markdown";
import { missingFor, useCheck } from "@/lib/runbooks";
import { useSession } from "@/lib/session";
import type { Runbook, RunbookPart, RunbookRunDetail } from "@/lib/types";
import { words } from "@/words/runbooks";
import { Act } from "./act";
import { Check } from "./check";
import { Decisions } from "./decisions";
import { Markdown } from "./markdown";

const say = words.document;

interface DocumentProps {
  runbook: Runbook;
  /** Without a run its checks and acts are read only. */
  run: RunbookRunDetail | undefined;
}

/** The sections in their order: text, checks with what they said, the decision table, acts. */
export function Document({ runbook, run }: DocumentProps) {
  const { data: session } = useSession();
  const usable = run?.state === "open" && session?.can_write === true;
  return (
    <>
      {runbook.sections.map((section) => {
        const isDecision = section.title === "Decision" && runbook.decisions.length > 0;
        const checks = section.parts.filter((part) => part.type === "check");
        return (
          <div key={section.title} id={anchorOf(section.title)}>
            <Card
              title={section.title}
              aside={run && usable && checks.length > 1 && <RunAll checks={checks} run={run} />}
            >
              {isDecision && <Decisions runbook={runbook} run={run} />}
              {section.parts.map((part, index) => (
                <Part key={index} part={isDecision ? withoutTable(part) : part} run={run} usable={usable} />
              ))}
            </Card>
          </div>
        );
      })}
    </>
  );
}

/** The table of decisions is drawn from its data, with what applies marked. */
const withoutTable = (part: RunbookPart): RunbookPart =>
  part.type === "text" ? { ...part, text: part.text.replace(/^\s*(\|.*\|[ \t]*(\n|$))+/, "").trim() } : part;

function Part({ part, run, usable }: { part: RunbookPart; run: RunbookRunDetail | undefined; usable: boolean }) {
  if (part.type === "check") return <Check part={part} run={run} usable={usable} />;
  if (part.type === "act") return <Act part={part} run={run} usable={usable} />;
  if (part.text === "") return null;
  return (
    <div className="ps-card-body">
      <Markdown text={part.text} />
    </div>
  );
}

/** One check after the other, those that this run can run. */
function RunAll({ checks, run }: { checks: RunbookPart[]; run: RunbookRunDetail }) {
  const check = useCheck(run.id);
  const [busy, setBusy] = useState(false);
  const all = async () => {
    setBusy(true);
    try {
      for (const part of checks) {
        if (part.number !== null && missingFor(part, run).length === 0) await check.mutateAsync(part.number);
      }
    } catch {
      // Said below by the mutation's own error; the checks after it were not run.
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconPlayerPlay size={13} />}
        loading={busy}
        onClick={() => void all()}
      >
        {say.runAllChecks}
      </Button>
      {check.isError && <ProblemPanel error={check.error} />}
    </>
  );
}
