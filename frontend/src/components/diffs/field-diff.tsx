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
                <td className="ps-mono">{name}</td>
                {!creating && <td className="ps-mono ps-diff-del">{old[name] ?? <span className="ps-muted">not set</span>}</td>}
                {!deleting && <td className="ps-mono ps-diff-add">{next[name] ?? <span className="ps-muted">removed</span>}</td>}
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
