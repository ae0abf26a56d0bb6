import { Link } from "@tanstack/react-router";
import { kindLabel } from "@/lib/kinds";
import { TERMINAL } from "@/lib/operations";
import { errorText, remainsTexts } from "@/lib/step-details";
import type { Operation } from "@/lib/types";
import { words } from "@/words/plans";
import { Notice } from "./notice";
import { operationLabel } from "./status";

const say = words.operationOutcome;

/** What became of an operation that has ended: the error, what was put back, what stays, who undid it. */
export function OperationOutcome({ operation }: { operation: Operation }) {
  const { state, error } = operation;
  if (!TERMINAL.has(state)) return null;
  return (
    <>
      {error && (
        <Notice tone="bad" title={error.title}>
          {errorText(error)}
        </Notice>
      )}
      {(state === "failed" || state === "cancelled") && <Left state={state} remains={remainsTexts(operation)} />}
      {state === "reverted" && (
        <Notice tone="info" title={say.undone}>
          {operation.reverted_by ? (
            <>
              {say.whatItChangedWasPut(
                <Link
                  to="/operations/$operationId"
                  params={{ operationId: operation.reverted_by }}
                  className="ps-link ps-mono"
                >
                  {operation.reverted_by}
                </Link>,
              )}
            </>
          ) : (
            say.whatItChangedWasPutBack
          )}
        </Notice>
      )}
    </>
  );
}

/** Of an operation that did not succeed: nothing, something, or nobody knows. */
function Left({ state, remains }: { state: "failed" | "cancelled"; remains: string[] | null }) {
  const cancelled = state === "cancelled";
  if (!remains)
    return <Notice tone="warn">{cancelled ? say.cancelledWhetherAnythingStays : say.whetherAnythingStays}</Notice>;
  if (remains.length === 0)
    return cancelled ? (
      <Notice tone="warn">{say.cancelledEverythingIsAsBefore}</Notice>
    ) : (
      <Notice tone="info">{say.whatItHadChangedWas}</Notice>
    );
  return (
    <Notice tone="warn" title={cancelled ? say.cancelledThisStays : say.thisStays}>
      <ul style={{ margin: 0, paddingInlineStart: 18 }}>
        {remains.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Notice>
  );
}

/** Each change of state, said to those who do not see it. */
export function OperationAnnouncer({ operation }: { operation: Operation }) {
  const failed = operation.error ? `. ${operation.error.title}` : "";
  return (
    <div className="ps-sr" aria-live="polite" data-testid="announced">
      {kindLabel(operation.kind)}: {operationLabel(operation.state)}
      {failed}
    </div>
  );
}
