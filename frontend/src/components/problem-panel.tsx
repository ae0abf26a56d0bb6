import { Button, CopyButton } from "@mantine/core";
import { lazy, Suspense } from "react";
import { toProblem } from "@/lib/problem";
import { words } from "@/words/parts";
import { Notice } from "./notice";

const say = words.problemPanel;

/** Loaded with the first problem that is about a field: the names of all fields are not in the first view. */
const FieldName = lazy(() => import("./field-name"));

/** A problem+json error: what is wrong, in the fields' own names where it is about fields, and the request id to quote. */
export function ProblemPanel({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = toProblem(error);
  const retry = onRetry && (
    <Button variant="default" onClick={onRetry}>
      {say.tryAgain}
    </Button>
  );
  const fields = problem.errors ?? [];
  return (
    <Notice tone="bad" title={problem.title} action={retry}>
      {fields.length === 0 && problem.detail && problem.detail !== problem.title && (
        <p style={{ margin: "2px 0" }}>{problem.detail}</p>
      )}
      {fields.length > 0 && (
        <ul style={{ margin: "4px 0", paddingLeft: 18 }}>
          {fields.map((item, index) => (
            <li key={index}>
              <Suspense fallback={null}>
                <FieldName pointer={item.pointer} detail={item.detail} />
              </Suspense>
              {item.detail}
            </li>
          ))}
        </ul>
      )}
      {problem.request_id && (
        <CopyButton value={problem.request_id}>
          {({ copied, copy }) => (
            <button
              type="button"
              onClick={copy}
              className="ps-mono ps-muted"
              style={{ all: "unset", cursor: "pointer", fontSize: "0.75rem" }}
            >
              {say.request(problem.request_id, copied ? say.copied : "")}
            </button>
          )}
        </CopyButton>
      )}
    </Notice>
  );
}
