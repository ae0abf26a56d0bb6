import { Button, TextInput } from "@mantine/core";
import { IconFileDescription } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { PlanDialog } from "@/components/operation-live";
import { Reading } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { isKind, kindWithin } from "@/lib/kinds";
import { blanksLeft, blankValue, latest, useAct } from "@/lib/runbooks";
import { fieldName } from "@/lib/field-names";
import { readingExact, readingValue } from "@/lib/readings";
import type { RunbookPart, RunbookRunDetail } from "@/lib/types";
import { words } from "@/words/runbooks";

const say = words.act;

interface ActProps {
  part: RunbookPart;
  run: RunbookRunDetail | undefined;
  usable: boolean;
}

/** An act: a plan of the operation engine, made at a click and done only once it is confirmed. */
export function Act({ part, run, usable }: ActProps) {
  const entry = run && latest(run.entries, "act", part.number);
  const name = part.name ?? "";
  return (
    <div className="ps-step">
      <div className="ps-step-head">
        <div style={{ minWidth: 0 }}>
          <div style={{ fontWeight: 560 }}>{part.text}</div>
          <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
            {say.aPlan(isKind(name) ? kindWithin(name) : name)}
          </div>
        </div>
      </div>
      {run && usable && <PlanForm part={part} run={run} />}
      {entry && (
        <div className="ps-muted" style={{ fontSize: "0.8125rem", marginTop: 6 }}>
          {say.planned(<RelTime at={entry.created_at} />, entry.text)}{" "}
          {entry.operation_id ? (
            <Link to="/operations/$operationId" params={{ operationId: entry.operation_id }} className="ps-link">
              {say.theOperation}
            </Link>
          ) : (
            say.notConfirmed
          )}
        </div>
      )}
    </div>
  );
}

function PlanForm({ part, run }: { part: RunbookPart; run: RunbookRunDetail }) {
  const blanks = blanksLeft(part, run);
  const [typed, setTyped] = useState<Record<string, string>>(() =>
    Object.fromEntries(blanks.map((blank) => [blank.name, blank.default === null ? "" : String(blank.default)])),
  );
  const [opened, setOpened] = useState(false);
  const act = useAct(run.id);
  const ready = blanks.every((blank) => !blank.required || typed[blank.name]?.trim());
  const plan = () => {
    if (part.number === null) return;
    const given = Object.entries(typed).filter(([, value]) => value.trim() !== "");
    const inputs = Object.fromEntries(given.map(([name, value]) => [name, blankValue(name, value)]));
    setOpened(true);
    act.mutate({ number: part.number, inputs });
  };
  // The dialog has a form of its own: inside this one, its confirmation would also ask for another plan.
  return (
    <>
      <form
        className="ps-start"
        aria-label={part.text}
        style={{ marginTop: 8 }}
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !act.isPending) plan();
        }}
      >
        {blanks.map((blank) => (
          <TextInput
            key={blank.name}
            label={labelOf(blank.name)}
            description={saidAs(blank.name, typed[blank.name] ?? "")}
            inputWrapperOrder={["label", "input", "description"]}
            autoComplete="off"
            required={blank.required}
            value={typed[blank.name] ?? ""}
            onChange={(event) => {
              const { value } = event.currentTarget;
              setTyped((old) => ({ ...old, [blank.name]: value }));
            }}
          />
        ))}
        <Button
          type="submit"
          variant="default"
          size="sm"
          leftSection={<IconFileDescription size={15} />}
          disabled={!ready}
          loading={act.isPending}
        >
          {say.showThePlan}
        </Button>
      </form>
      <PlanDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={part.text}
        plan={act.data}
        error={act.error}
        onReplan={plan}
      />
    </>
  );
}

const UNITS: [ending: RegExp, unit: string][] = [
  [/_bytes_per_s$/, say.bytesASecond],
  [/_ms$/, "ms"],
  [/_s$/, say.seconds],
];

/** "for_s" → "For (seconds)": what is typed is in the blank's own unit. */
function labelOf(name: string): string {
  const unit = UNITS.find(([ending]) => ending.test(name));
  return unit ? say.inUnit(fieldName(name), unit[1]) : fieldName(name);
}

/** "1209600000" of `retention_ms` → "= 14d": numbers with a unit are also said in words. */
function saidAs(name: string, typed: string): ReactNode {
  const unit = /_(ms|s)$|bytes/.exec(name)?.[0];
  const value = blankValue(name, typed);
  if (unit === undefined || typeof value !== "number") return undefined;
  const per = name.endsWith("_bytes_per_s");
  const said = (
    <Reading words={readingValue(per ? "bytes" : name, value)} exact={readingExact(per ? "bytes" : name, value)} />
  );
  return <>= {per ? say.aSecond(said) : said}</>;
}
