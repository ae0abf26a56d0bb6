import { Quantity } from "@/components/quantity";
import { formatInteger } from "@/lib/format";
import { words } from "@/words/messages";
import { endingOf, isUnderWay, type Reading } from "./reading";

const say = words.progressLine;

const STATUS: Record<Reading["status"], string> = {
  idle: "",
  connecting: say.connecting,
  reading: say.reading,
  done: "",
  failed: say.endedWithAnError,
  cancelled: say.cancelled,
};

/** How far a reading is, and how it ended; said aloud when that changes. */
export function ProgressLine({ reading, tail }: { reading: Reading; tail: boolean }) {
  const { progress, done } = reading;
  if (reading.status === "idle") return null;
  const status = done ? endingOf(done) : tail && isUnderWay(reading) ? say.following : STATUS[reading.status];
  return (
    <div className="ps-message-progress">
      <span role="status">{status}</span>
      {progress && (
        <span className="ps-muted ps-tnum">
          {say.lookedAt(
            <span title={formatInteger(progress.matched)}>{say.found(progress.matched)}</span>,
            progress.records,
            <Quantity of="bytes" value={progress.bytes} none={say.sizeHidden} />,
            <Quantity of="spanMs" value={progress.elapsed_ms} />,
          )}
        </span>
      )}
      {!done && isUnderWay(reading) && progress !== null && progress.waits_for.length > 0 && (
        <span className="ps-warn">{say.waitsFor(progress.waits_for)}</span>
      )}
      {progress !== null && progress.filter_errors > 0 && (
        <span className="ps-warn">{say.notJudged(progress.filter_errors)}</span>
      )}
      {progress !== null && progress.left_out > 0 && (
        <span className="ps-warn">{say.cameTooFast(progress.left_out)}</span>
      )}
      {reading.gone > 0 && <span className="ps-muted">{say.notKept(reading.gone)}</span>}
      {done && done.unavailable.length > 0 && <span className="ps-warn">{say.withoutLeader(done.unavailable)}</span>}
      {done && done.silent.length > 0 && <span className="ps-warn">{say.noAnswer(done.silent)}</span>}
    </div>
  );
}
