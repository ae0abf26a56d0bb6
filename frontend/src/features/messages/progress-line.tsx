import { Quantity } from "@/components/quantity";
import { formatInteger, plural } from "@/lib/format";
import { endingOf, isUnderWay, type Reading } from "./reading";

const STATUS: Record<Reading["status"], string> = {
  idle: "",
  connecting: "Connecting to the brokers…",
  reading: "Reading…",
  done: "",
  failed: "Ended with an error.",
  cancelled: "Cancelled.",
};

const listed = (numbers: number[]) => `${plural(numbers.length, "partition")} ${numbers.join(", ")}`;

/** How far a reading is, and how it ended; said aloud when that changes. */
export function ProgressLine({ reading, tail }: { reading: Reading; tail: boolean }) {
  const { progress, done } = reading;
  if (reading.status === "idle") return null;
  const status = done ? endingOf(done) : tail && isUnderWay(reading) ? "Following what comes…" : STATUS[reading.status];
  return (
    <div className="ps-message-progress">
      <span role="status">{status}</span>
      {progress && (
        <span className="ps-muted ps-tnum">
          <span title={formatInteger(progress.matched)}>{formatInteger(progress.matched)} found</span>
          {" of "}
          {formatInteger(progress.records)} looked at ·{" "}
          <Quantity of="bytes" value={progress.bytes} none="size hidden by masks" /> ·{" "}
          <Quantity of="spanMs" value={progress.elapsed_ms} />
        </span>
      )}
      {progress !== null && progress.filter_errors > 0 && (
        <span className="ps-warn">
          The expression could not judge {plural(progress.filter_errors, "message")}: not shown.
        </span>
      )}
      {progress !== null && progress.left_out > 0 && (
        <span className="ps-warn">{plural(progress.left_out, "message")} came too fast to be shown.</span>
      )}
      {reading.gone > 0 && <span className="ps-muted">{plural(reading.gone, "older message")} not kept here.</span>}
      {done && done.unavailable.length > 0 && (
        <span className="ps-warn">Not read, without a leader: {listed(done.unavailable)}.</span>
      )}
      {done && done.silent.length > 0 && (
        <span className="ps-warn">Not read to the end, no answer: {listed(done.silent)}.</span>
      )}
    </div>
  );
}
