import { Breakable } from "@/components/breakable";
import { ScrollBox } from "@/components/scroll-box";
import type { AccessMatrix, MatrixEntry } from "@/lib/access";
import { operationWords, resourceWords, shortOperation } from "./acl-words";

interface MatrixTableProps {
  matrix: AccessMatrix;
  /** Ask what somebody may do, all rules counted. */
  onCheck: (who: string) => void;
}

/** The rules as they are: what they come to for one request is another question (`onCheck`). */
export function MatrixTable({ matrix, onCheck }: MatrixTableProps) {
  return (
    <ScrollBox label="Principals and resources">
      <table className="ps-table" aria-label="Access matrix">
        <thead>
          <tr>
            <th scope="col">Principal</th>
            {matrix.resources.map((resource) => (
              <th key={resourceKey(resource)} scope="col">
                <span className="ps-muted">
                  {resource.resource_type === "CLUSTER" ? "" : `${operationWords(resource.resource_type)} `}
                </span>
                <span
                  className="ps-mono"
                  title={
                    resource.pattern_type === "PREFIXED"
                      ? `Every name that starts with ${resource.resource_name}`
                      : resourceWords(resource)
                  }
                >
                  {resource.resource_type === "CLUSTER" ? "cluster" : resource.resource_name}
                  {resource.pattern_type === "PREFIXED" && "*"}
                </span>
                {resource.pattern_type === "LITERAL" && resource.resource_name === "*" && (
                  <span className="ps-muted"> (all)</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.data.map((row) => (
            <tr key={row.principal}>
              <th scope="row">
                <button
                  type="button"
                  className="ps-sort ps-mono"
                  title="Check what this principal may do"
                  onClick={() => onCheck(row.principal)}
                >
                  <Breakable text={row.principal} />
                </button>
                {row.principal === "User:*" && <span className="ps-muted"> everybody</span>}
              </th>
              {matrix.resources.map((resource, at) => {
                const cell = row.cells.find((one) => one.resource === at);
                return (
                  <td key={resourceKey(resource)}>
                    {cell?.deny.map((entry) => (
                      <Operation key={`d${entry.operation}`} entry={entry} denies />
                    ))}
                    {cell?.allow.map((entry) => (
                      <Operation key={`a${entry.operation}`} entry={entry} />
                    ))}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

const resourceKey = (resource: AccessMatrix["resources"][number]) =>
  JSON.stringify([resource.resource_type, resource.pattern_type, resource.resource_name]);

/** One operation in short; whole, with its hosts, on hover and for screen readers. A denial is crossed by its word. */
function Operation({ entry, denies = false }: { entry: MatrixEntry; denies?: boolean }) {
  const anywhere = entry.hosts.includes("*");
  const hosts = anywhere ? "" : ` from ${entry.hosts.join(", ")}`;
  const whole = `${denies ? "may not" : "may"} ${operationWords(entry.operation)}${hosts}`;
  return (
    <span
      className={denies ? "ps-tag ps-bad" : "ps-tag"}
      style={{ marginLeft: 0, marginRight: 4, whiteSpace: "nowrap" }}
      title={whole}
    >
      <span aria-hidden>
        {denies && "no "}
        {shortOperation(entry.operation)}
        {!anywhere && " @"}
      </span>
      <span className="ps-sr">{whole}. </span>
    </span>
  );
}
