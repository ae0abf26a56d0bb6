import { Breakable } from "@/components/breakable";
import { ScrollBox } from "@/components/scroll-box";
import type { AccessMatrix, MatrixEntry } from "@/lib/access";
import { operationWords, resourceWords, typeWords } from "@/lib/acl-words";
import { words } from "@/words/access";
import { shortOperation } from "./acl-words";

const say = words.matrixTable;

interface MatrixTableProps {
  matrix: AccessMatrix;
  /** Ask what somebody may do, all rules counted. */
  onCheck: (who: string) => void;
}

/** The rules as they are: what they come to for one request is another question (`onCheck`). */
export function MatrixTable({ matrix, onCheck }: MatrixTableProps) {
  return (
    <ScrollBox label={say.principalsAndResources}>
      <table className="ps-table" aria-label={say.accessMatrix}>
        <thead>
          <tr>
            <th scope="col">{say.principal}</th>
            {matrix.resources.map((resource) => (
              <th key={resourceKey(resource)} scope="col">
                <span className="ps-muted">
                  {resource.resource_type === "CLUSTER" ? "" : `${typeWords(resource.resource_type)} `}
                </span>
                <span
                  className="ps-mono"
                  title={
                    resource.pattern_type === "PREFIXED"
                      ? say.everyNameThatStartsWith(resource.resource_name)
                      : resourceWords(resource)
                  }
                >
                  {resource.resource_type === "CLUSTER" ? say.cluster : resource.resource_name}
                  {resource.pattern_type === "PREFIXED" && "*"}
                </span>
                {resource.pattern_type === "LITERAL" && resource.resource_name === "*" && (
                  <span className="ps-muted"> {say.all}</span>
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
                  title={say.checkThisPrincipal}
                  onClick={() => onCheck(row.principal)}
                >
                  <Breakable text={row.principal} />
                </button>
                {row.principal === "User:*" && <span className="ps-muted"> {say.everybody}</span>}
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
  const operation = operationWords(entry.operation);
  const short = shortOperation(entry.operation);
  const whole = anywhere
    ? (denies ? say.mayNot : say.may)(operation)
    : (denies ? say.mayNotFrom : say.mayFrom)(operation, entry.hosts.join(", "));
  return (
    <span
      className={denies ? "ps-tag ps-bad" : "ps-tag"}
      style={{ marginLeft: 0, marginRight: 4, whiteSpace: "nowrap" }}
      title={whole}
    >
      <span aria-hidden>
        {denies ? say.no(short) : short}
        {!anywhere && " @"}
      </span>
      <span className="ps-sr">{whole}. </span>
    </span>
  );
}
