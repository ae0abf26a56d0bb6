import { IconCircleCheck } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { processWord } from "@/components/broker-state";
import { Empty } from "@/components/empty";
import { RelTime } from "@/components/rel-time";
import { Stats } from "@/components/stats";
import { formatInteger } from "@/lib/format";
import type { BrokerProcess } from "@/lib/types";
import { words } from "@/words/brokers";

const say = words.processTab;

const at = (ms: number | null): ReactNode => (ms === null ? "–" : <RelTime at={new Date(ms).toISOString()} />);

/** What the host's agent reports of the process: how long it runs, why it ended, and its last lines then. */
export function ProcessTab({ process }: { process: BrokerProcess }) {
  return (
    <>
      <div className="ps-card-body">
        <Stats
          items={[
            { label: say.state, value: processWord(process.state), note: process.message || undefined },
            { label: say.since, value: at(process.since_ms) },
            { label: say.process, value: process.pid ?? "–" },
            {
              label: say.restartsByItsAgent,
              value: formatInteger(process.restarts),
              tone: process.restarts > 0 ? "warn" : undefined,
            },
            { label: say.version, value: process.version ?? say.notKnown, note: process.software ?? undefined },
            { label: say.speaks, value: process.protocol ?? say.notKnown },
            { label: say.reported, value: at(process.reported_at_ms) },
          ]}
        />
      </div>
      {process.log_tail !== null && process.log_tail.length > 0 && (
        <LogLines lines={process.log_tail} label={say.lastLinesOfTheLog} />
      )}
      <Ends process={process} />
      {process.log_hidden && <div className="ps-legend">{process.log_hidden}</div>}
    </>
  );
}

function Ends({ process }: { process: BrokerProcess }) {
  if (process.ends.length === 0)
    return (
      <Empty icon={<IconCircleCheck size={20} />} title={say.itHasNotEndedByItself}>
        {say.whatIsListedHere}
      </Empty>
    );
  return (
    <ul aria-label={say.restartsWithTheirReasons} style={{ margin: 0, padding: 0, listStyle: "none" }}>
      {process.ends.map((end, place) => (
        <li key={`${end.at_ms} ${place}`} className="ps-card-body" style={{ borderTop: "1px solid var(--ps-line)" }}>
          <strong>{end.message || say.ended}</strong> <span className="ps-muted">{at(end.at_ms)}</span>
          {end.log_tail !== null && end.log_tail.length > 0 && (
            <LogLines lines={end.log_tail} label={say.lastLinesBefore(end.message)} />
          )}
        </li>
      ))}
    </ul>
  );
}

function LogLines({ lines, label }: { lines: string[]; label: string }) {
  return (
    // Long lines are scrolled to, so the keyboard must be able to reach them.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- WCAG 2.1.1: scrollable region
    <pre className="ps-code" tabIndex={0} aria-label={label} style={{ overflowX: "auto", margin: "8px 0 0" }}>
      {lines.join("\n")}
    </pre>
  );
}
