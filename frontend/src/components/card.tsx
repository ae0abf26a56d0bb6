import { Skeleton, Stack } from "@mantine/core";
import { type ReactNode, useId } from "react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { Page, Part } from "@/lib/page";
import { words } from "@/words";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";
import { RelTime } from "./rel-time";

interface CardProps {
  title?: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  padded?: boolean;
}

export function Card({ title, aside, children, padded = false }: CardProps) {
  const id = useId();
  return (
    <section className="ps-card" aria-labelledby={title ? id : undefined}>
      {title && (
        <header className="ps-card-head">
          <h2 id={id}>{title}</h2>
          <div style={{ marginLeft: "auto", display: "flex", gap: 8, alignItems: "center", flexWrap: "wrap" }}>
            {aside}
          </div>
        </header>
      )}
      <div className={padded ? "ps-card-body" : undefined}>{children}</div>
    </section>
  );
}

interface PartProps<P extends Record<K, Part>, K extends keyof P> {
  query: UseQueryResult<Page<P>>;
  name: K;
  children: (data: NonNullable<P[K]["data"]>) => ReactNode;
  /** Rows of the loading placeholder. */
  rows?: number;
  skeleton?: ReactNode;
}

/** One part of a page: loading, failed, unavailable with its reason, stale with its age, or the data. */
export function PartView<P extends Record<K, Part>, K extends keyof P>({
  query,
  name,
  children,
  rows = 4,
  skeleton,
}: PartProps<P, K>) {
  if (query.isPending) return skeleton ?? <Lines rows={rows} />;
  if (query.isError && !query.data) {
    return (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  }
  const part = query.data?.parts[name];
  if (!part || part.status === "unavailable" || part.data === null || part.data === undefined) {
    return (
      <div className="ps-card-body">
        <Notice tone="warn" title={words.common.part.unavailable}>
          {part?.reason ?? words.common.part.notSent} {words.common.part.restIsFine}
        </Notice>
      </div>
    );
  }
  return (
    <>
      {part.status === "stale" && (
        <div className="ps-card-body" style={{ paddingBottom: 12 }}>
          <Notice tone="warn">
            {part.reason
              ? words.common.part.asItWasBecause(<RelTime at={part.as_of} />, part.reason)
              : words.common.part.asItWas(<RelTime at={part.as_of} />)}
          </Notice>
        </div>
      )}
      {children(part.data)}
    </>
  );
}

export function Lines({ rows }: { rows: number }) {
  return (
    <Stack gap={10} p={14} aria-busy="true" aria-label={words.common.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={14} width={`${[96, 82, 90, 70, 88][index % 5]}%`} radius="sm" />
      ))}
    </Stack>
  );
}
