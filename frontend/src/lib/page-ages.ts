/** A page that still says what it said, with the ages that it has by now. */

interface Aged {
  parts: Record<string, { as_of: string | null }>;
}

/** By part, of the header `Penstock-As-Of`: `topics=2026-11-26T00:00:00Z, counts=…`. */
function agesOf(header: string): Map<string, string> {
  const pairs = header.split(", ").map((pair): [string, string] => {
    const at = pair.indexOf("=");
    return at < 0 ? ["", ""] : [pair.slice(0, at), pair.slice(at + 1)];
  });
  return new Map(pairs.filter(([name, age]) => name !== "" && age !== ""));
}

/** The page as it would be sent now: in each part the old age is the new one, wherever it stands. */
export function younger<P>(page: P, header: string): P {
  const ages = agesOf(header);
  const { parts } = page as Aged;
  const now = Object.entries(parts).map(([name, part]) => {
    const age = ages.get(name);
    return [name, age === undefined || part.as_of === null ? part : replaced(part, part.as_of, age)];
  });
  return { ...page, parts: Object.fromEntries(now) as unknown };
}

function replaced(value: unknown, old: string, next: string): unknown {
  if (value === old) return next;
  if (Array.isArray(value)) return value.map((each: unknown) => replaced(each, old, next));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each, old, next)]));
}
