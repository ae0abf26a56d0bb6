import { formatBytes, formatDurationMs } from "@/lib/format";

type Flat = Record<string, string>;

/** Nested objects as dotted fields, so that two documents compare line by line. */
export function flatten(value: unknown, prefix = "", into: Flat = {}): Flat {
  if (value === null || value === undefined) return into;
  if (Array.isArray(value)) {
    into[prefix] = value.every((item) => typeof item !== "object") ? value.join(", ") : JSON.stringify(value);
  } else if (typeof value === "object") {
    for (const [key, item] of Object.entries(value)) flatten(item, prefix ? `${prefix}.${key}` : key, into);
  } else {
    into[prefix || "value"] = String(value);
  }
  return into;
}

/** The value with its size in words beside it, by the unit in the field's own name. */
function Value({ name, value }: { name: string; value: string }) {
  const number = Number(value);
  const counts = value !== "" && !Number.isNaN(number) && number >= 0 && number < 9e18;
  const bytes = counts && /(^|[._])bytes$/.test(name);
  const time = counts && /(^|[._])ms$/.test(name);
  return (
    <>
      {value === "" ? <span className="ps-muted">empty</span> : value}
      {(bytes || time) && <span className="ps-muted"> {bytes ? formatBytes(number) : formatDurationMs(number)}</span>}
    </>
  );
}

const shortName = (name: string): string => name.replace(/^configs?\./, "");

interface FieldDiffProps {
  before: unknown;
  after: unknown;
  /** Shown when the plan has neither before nor after. */
  diff: Record<string, unknown>;
}

export function FieldDiff({ before, after, diff }: FieldDiffProps) {
  const nothing = before === undefined && after === undefined;
  const old = nothing ? {} : flatten(before);
  const next = flatten(nothing ? diff : after);
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  const changed = names.filter((name) => old[name] !== next[name]);
  const same = names.length - changed.length;
  if (changed.length === 0) return null;
  const creating = Object.keys(old).length === 0;
  const deleting = Object.keys(next).length === 0;
  return (
    <div className="ps-card">
      <div className="ps-table-wrap" style={{ maxHeight: 340, overflowY: "auto" }}>
        <table className="ps-table" aria-label="Changes">
          <thead>
            <tr>
              <th scope="col">Field</th>
              {!creating && <th scope="col">{deleting ? "Now" : "Before"}</th>}
              {!deleting && <th scope="col">{creating ? "Value" : "After"}</th>}
            </tr>
          </thead>
          <tbody>
            {changed.map((name) => (
              <tr key={name}>
                <td className="ps-mono">{shortName(name)}</td>
                {!creating && <td className="ps-mono ps-diff-del">{old[name] === undefined ? <span className="ps-muted">not set</span> : <Value name={name} value={old[name]} />}</td>}
                {!deleting && <td className="ps-mono ps-diff-add">{next[name] === undefined ? <span className="ps-muted">not set</span> : <Value name={name} value={next[name]} />}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {same > 0 && (
        <div className="ps-muted" style={{ padding: "6px 14px", fontSize: "0.75rem", borderTop: "1px solid var(--ps-line)" }}>
          {same} unchanged
        </div>
      )}
    </div>
  );
}
