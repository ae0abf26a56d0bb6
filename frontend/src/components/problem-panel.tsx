import { Button, CopyButton } from "@mantine/core";
import { toProblem } from "@/lib/problem";
import { Notice } from "./notice";

/** A problem+json error: title, detail, the fields at fault, the request id to quote. */
export function ProblemPanel({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = toProblem(error);
  const retry = onRetry && (
    <Button variant="default" onClick={onRetry}>
      Try again
    </Button>
  );
  return (
    <Notice tone="bad" title={problem.title} action={retry}>
      {problem.detail && problem.detail !== problem.title && <p style={{ margin: "2px 0" }}>{problem.detail}</p>}
      {problem.errors && problem.errors.length > 0 && (
        <ul style={{ margin: "4px 0", paddingLeft: 18 }}>
          {problem.errors.map((item, index) => (
            <li key={index}>
              <span className="ps-mono">{item.pointer}</span> {item.detail}
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
              request {problem.request_id} {copied ? "· copied" : ""}
            </button>
          )}
        </CopyButton>
      )}
    </Notice>
  );
}
