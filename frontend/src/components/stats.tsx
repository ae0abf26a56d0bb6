import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { words } from "@/words/parts";
import type { Tone } from "./status";

const say = words.stats;

export interface Stat {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: Tone;
  title?: string;
}

/** Key figures in one ruled strip. */
export function Stats({ items }: { items: Stat[] }) {
  return (
    <dl className="ps-stats" style={{ margin: 0 }}>
      {items.map((item) => (
        <div key={item.label} className="ps-stat" title={item.title}>
          <dt>{item.label}</dt>
          <dd className={item.tone ? `ps-${item.tone}` : undefined}>
            {item.value}
            {item.note !== undefined && <small>{item.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function StatsSkeleton({ count = 5 }: { count?: number }) {
  return (
    <div className="ps-stats" aria-busy="true" aria-label={say.loading}>
      {Array.from({ length: count }, (_, index) => (
        <div key={index} className="ps-stat">
          <Skeleton height={10} width={70} mb={9} />
          <Skeleton height={18} width={48} mb={4} />
        </div>
      ))}
    </div>
  );
}
