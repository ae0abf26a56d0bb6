import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { isRefusal } from "@/lib/problem";
import { words } from "@/words";
import { Lines } from "./card";
import { Notice } from "./notice";
import { ProblemPanel } from "./problem-panel";

export interface Listed<T> {
  data: T[];
  page?: { has_more: boolean };
}

interface ListViewProps<T> {
  query: UseQueryResult<Listed<T>>;
  children: (rows: T[]) => ReactNode;
}

/** A list of the REST API: awaited, failed, cut off, old after a failed refresh, or as it is. */
export function ListView<T>({ query, children }: ListViewProps<T>) {
  if (query.isPending) return <Lines rows={5} />;
  if (!query.data || isRefusal(query)) {
    return (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={isRefusal(query) ? undefined : () => void query.refetch()} />
      </div>
    );
  }
  return (
    <>
      {query.isError && (
        <div className="ps-card-body">
          <Notice tone="warn">{words.common.list.notReadAgain}</Notice>
        </div>
      )}
      {query.data.page?.has_more && (
        <div className="ps-card-body">
          <Notice tone="info">{words.common.list.cut(query.data.data.length)}</Notice>
        </div>
      )}
      {children(query.data.data)}
    </>
  );
}
