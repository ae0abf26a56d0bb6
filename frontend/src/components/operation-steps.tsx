import { Loader, Progress } from "@mantine/core";
import { IconBan, IconCircleCheckFilled, IconCircleDashed, IconCircleXFilled } from "@tabler/icons-react";
import { formatBytes, formatInteger, toDate } from "@/lib/format";
import { stepTitle } from "@/lib/sentences";
import { detailText } from "@/lib/step-details";
import { useNow } from "@/lib/use-now";
import type { Operation, OperationStep } from "@/lib/types";
import { words } from "@/words/plans";
import { Quantity } from "./quantity";

const say = words.operationSteps;

function StepIcon({ state }: { state: string }) {
  if (state === "done") return <IconCircleCheckFilled size={20} className="ps-ok" aria-label={say.done} />;
  if (state === "failed") return <IconCircleXFilled size={20} className="ps-bad" aria-label={say.failed} />;
  if (state === "running") return <Loader size={18} aria-label={say.running} />;
  if (state === "skipped") return <IconBan size={20} className="ps-muted" aria-label={say.skipped} />;
  return <IconCircleDashed size={20} className="ps-muted" aria-label={say.waiting} />;
}

const amount = (value: number, unit: string | null) =>
  unit === "bytes" ? formatBytes(value) : `${formatInteger(value)}${unit ? ` ${unit}` : ""}`;

function Took({ step }: { step: OperationStep }) {
  const now = useNow();
  const start = toDate(step.started_at);
  if (start === null) return null;
  const end = toDate(step.finished_at)?.getTime() ?? (step.state === "running" ? now : start.getTime());
  return (
    <span className="ps-muted ps-tnum">
      <Quantity of="span" value={Math.max(0, end - start.getTime()) / 1000} />
    </span>
  );
}

/** The durable steps of an operation, with what each did and how far it is. */
export function OperationSteps({ operation }: { operation: Operation }) {
  return (
    <ol className="ps-steps" aria-label={say.steps}>
      {operation.steps
        .filter((step) => isShown(step))
        .map((step) => (
          <li key={step.index} aria-current={step.state === "running" ? "step" : undefined}>
            <StepIcon state={step.state} />
            <span style={{ fontWeight: step.state === "running" ? 600 : 450 }}>{stepTitle(step)}</span>
            <Took step={step} />
            {(step.detail || step.progress_total) && (
              <div className="ps-step-detail">
                {detailText(step)}
                {step.progress_total ? (
                  <div style={{ display: "flex", alignItems: "center", gap: 10, marginTop: 3 }}>
                    <Progress
                      value={(100 * (step.progress_done ?? 0)) / step.progress_total}
                      size="sm"
                      w={160}
                      aria-label={say.progress(stepTitle(step))}
                      animated={step.state === "running"}
                    />
                    <span
                      className="ps-tnum"
                      title={say.ofWord(step.progress_done ?? 0, step.progress_total, step.unit)}
                    >
                      {say.of2(
                        amount(step.progress_done ?? 0, step.unit === "bytes" ? "bytes" : null),
                        amount(step.progress_total, step.unit),
                      )}
                    </span>
                  </div>
                ) : null}
              </div>
            )}
          </li>
        ))}
    </ol>
  );
}

/** Clean-up steps are shown only once they have had something to do. */
const isShown = (step: OperationStep): boolean =>
  !["restore", "teardown"].includes(step.phase ?? "execute") || !["pending", "skipped"].includes(step.state);
