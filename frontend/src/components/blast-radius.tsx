import { formatBytes, formatInteger, plural } from "@/lib/format";
import type { Extent } from "@/lib/types";

/** Names written out before the rest is only counted. */
const NAMES_SHOWN = 8;

const figure = (extent: Extent, value: number) => (extent.name === "bytes" ? formatBytes(value) : formatInteger(value));

/** A number, a lower bound, or "unknown" with the reason; never a 0 that nobody has read. */
export function extentText(extent: Extent): string {
  if (extent.value !== null) return figure(extent, extent.value);
  const reasons = extent.unknown.map((gap) => gap.reason).join("; ");
  if (extent.at_least === 0) return `unknown: ${reasons}`;
  return `at least ${figure(extent, extent.at_least)}; the rest is unknown: ${reasons}`;
}

/** What a rounded figure is exactly. */
const exactly = (extent: Extent): string | undefined =>
  extent.name === "bytes" && extent.at_least > 0 ? `${formatInteger(extent.at_least)} bytes` : undefined;

/** Up to where the confirmation holds, in words. */
export function toleranceText(extent: Extent): string {
  if (extent.limit === null) return "may change";
  if (extent.names !== null) return "no other may come";
  return extent.limit === 0 ? "must stay so" : `up to ${figure(extent, extent.limit)}`;
}

/** `hidden` is of those that the reader has no grant for. */
function Names({ names, hidden }: { names: string[]; hidden: number }) {
  if (names.length + hidden === 0) return null;
  const more = names.length - NAMES_SHOWN;
  const notSeen = `${formatInteger(hidden)} that you may not see`;
  return (
    <div className="ps-muted" style={{ overflowWrap: "anywhere" }}>
      {names.slice(0, NAMES_SHOWN).join(", ")}
      {more > 0 && ` and ${plural(more, "more", "more")}`}
      {hidden > 0 && (names.length > 0 ? ` and ${notSeen}` : notSeen)}
    </div>
  );
}

/** What a plan hits, what of that is not known, and how much more it may be when it is confirmed. */
export function BlastRadius({ extents }: { extents: Extent[] | undefined }) {
  if (!extents || extents.length === 0) return null;
  return (
    <div className="ps-card">
      <div className="ps-table-wrap" style={{ maxHeight: 340, overflowY: "auto" }}>
        <table className="ps-table" aria-label="What this reaches">
          <thead>
            <tr>
              <th scope="col">What this reaches</th>
              <th scope="col">Now</th>
              <th scope="col" className="ps-hide-sm">
                When it is confirmed
              </th>
            </tr>
          </thead>
          <tbody>
            {extents.map((extent) => (
              <tr key={extent.name}>
                <td style={{ whiteSpace: "nowrap" }}>{extent.title[0]?.toUpperCase() + extent.title.slice(1)}</td>
                <td>
                  <span className={extent.value === null ? "ps-warn" : undefined} title={exactly(extent)}>
                    {extentText(extent)}
                  </span>
                  <Names names={extent.names ?? []} hidden={extent.hidden} />
                </td>
                <td className="ps-muted ps-hide-sm">{toleranceText(extent)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
