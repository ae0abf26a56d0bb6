import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { actorName } from "@/components/operation-list";
import { RelTime } from "@/components/rel-time";
import type { RunbookRun } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { runbookTitle } from "@/lib/rule-names";
import { words } from "@/words/runbooks";
import { RunState } from "./outcome";

const say = words.runTable;

const column = createColumnHelper<RunbookRun>();

const KINDS: Readonly<Record<string, (name: string) => string>> = say.subjects;
const named = (kind: string, name: string): string =>
  Object.hasOwn(KINDS, kind) ? (KINDS[kind]?.(name) ?? name) : `${kind} ${name}`;

/** "demo, group billing": what a run is about, in words. */
export function aboutText(run: Pick<RunbookRun, "cluster_id" | "context">, clusters: Map<string, string>): string {
  const of = run.cluster_id ? [clusters.get(run.cluster_id) ?? run.cluster_id] : [];
  const others = Object.entries(run.context)
    .filter(([name]) => name !== "alert")
    .map(([name, value]) => named(name, String(value)));
  return [...of, ...others].join(", ") || say.theTenant;
}

export function useClusterNames(): Map<string, string> {
  const found = useOverview().data?.parts.clusters.data ?? [];
  return new Map(found.map((cluster) => [cluster.id, cluster.name]));
}

/** Runs of runbooks, the newest first. */
export function RunTable({ runs, ofRunbook = false }: { runs: RunbookRun[]; ofRunbook?: boolean }) {
  const clusters = useClusterNames();
  const columns = [
    column.accessor("created_at", {
      header: say.begun,
      cell: ({ row: { original: run } }) => (
        <Link
          to="/runbooks/$runbookId"
          params={{ runbookId: run.runbook }}
          search={{ run: run.id }}
          className="ps-link"
        >
          <RelTime at={run.created_at} />
        </Link>
      ),
    }),
    ...(ofRunbook
      ? []
      : [
          column.accessor((run) => runbookTitle(run.runbook), {
            id: "runbook",
            header: say.runbook,
            cell: ({ row, getValue }) => <span title={row.original.runbook}>{getValue()}</span>,
          }),
        ]),
    column.accessor((run) => aboutText(run, clusters), { id: "about", header: say.about, meta: { hideBelow: "sm" } }),
    column.accessor("state", { header: say.state, cell: ({ getValue }) => <RunState state={getValue()} /> }),
    column.accessor("created_by", {
      header: say.by,
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => actorName(getValue()),
    }),
    column.accessor("note", { header: say.note, meta: { hideBelow: "md" } }),
  ];
  return (
    <DataTable
      rows={runs}
      columns={columns}
      rowId={(run) => run.id}
      label={say.runs}
      defaultSort="-created_at"
      pageSize={10}
      empty={<Empty title={say.nobodyHasFollowedItYet}>{say.aRunRecordsEachCheck}</Empty>}
    />
  );
}
