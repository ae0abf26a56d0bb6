import { RelTime } from "@/components/rel-time";
import type { ClusterDrift } from "@/lib/types";
import { words } from "@/words/drift";

const say = words.ages;

/** How what each area was compared with was read; one that was never read is unknown, never without differences. */
export function DriftAges({ areas }: { areas: ClusterDrift["areas"] }) {
  return (
    <dl className="ps-facts" style={{ margin: 0, display: "grid", gap: 8 }}>
      {areas.map(({ area, as_of, stale_reason, count }) => (
        <div key={area} style={{ display: "flex", flexWrap: "wrap", gap: 8, alignItems: "baseline" }}>
          <dt style={{ minWidth: 160 }}>{words.of[area]}</dt>
          <dd style={{ margin: 0 }}>
            <span className={count ? "ps-warn" : undefined}>
              {count === null ? say.unknown : count === 0 ? say.none : say.differences(count)}
            </span>{" "}
            <span className="ps-muted">
              {as_of === null ? say.neverRead : say.seen(<RelTime at={as_of} />)}
              {stale_reason !== null && (
                <>
                  {". "}
                  {as_of === null
                    ? say.unknownBecause(words.of[area], stale_reason)
                    : say.staleBecause(words.of[area], stale_reason)}
                </>
              )}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
