/** A page that still says what it said, with the ages that it has by now. */

interface Aged {
  parts: Record<string, { as_of: string | null }>;
}

/** Fields that say when something was looked at, as `console/revisions.py` has them. */
const MOMENTS = new Set(["as_of", "sampled_at", "stale_after", "tried_at", "ts"]);
const STAYS = "-";
const MOMENT = /^[0-9T:.Z+-]{1,40}$/;

/** By part its moments, of the header `Penstock-As-Of`: `topics=2026-11-26T00:00:00Z 2026-…, counts=…`. */
function agesOf(header: string): Map<string, string[]> {
  const pairs = header.split(", ").map((pair): [string, string[]] => {
    const at = pair.indexOf("=");
    return at < 0
      ? ["", []]
      : [
          pair.slice(0, at),
          pair
            .slice(at + 1)
            .split(" ")
            .filter(Boolean),
        ];
  });
  return new Map(pairs.filter(([name, ages]) => name !== "" && ages.length > 0));
}

/**
 * The page as it would be sent now. The server numbers the different moments of a part as they first appear, fields in
 * the order of their names: in the place of each stands what it says of that number; what it does not say, or says
 * with a minus, stays.
 */
export function younger<P>(page: P, header: string): P {
  const ages = agesOf(header);
  const { parts } = page as Aged;
  const now = Object.entries(parts).map(([name, part]) => {
    const said = ages.get(name);
    return [name, said === undefined || part.as_of === null ? part : replaced(part, said, new Map())];
  });
  return { ...page, parts: Object.fromEntries(now) as unknown };
}

/** `known`: by moment what stands for it; filled in the order in which moments appear. */
function replaced(value: unknown, said: readonly string[], known: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => replaced(each, said, known));
  if (value === null || typeof value !== "object") return value;
  const now: Record<string, unknown> = { ...value };
  for (const name of Object.keys(now).sort()) {
    const each = now[name];
    if (typeof each !== "string") now[name] = replaced(each, said, known);
    else if (MOMENTS.has(name) && MOMENT.test(each)) {
      const next = said[known.size];
      if (!known.has(each) && next !== undefined) known.set(each, next === STAYS ? each : next);
      now[name] = known.get(each) ?? each;
    }
  }
  return now;
}
