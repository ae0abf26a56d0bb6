import { Button, Group } from "@mantine/core";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { Breakable } from "@/components/breakable";
import { DataTable, type TableView } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { SearchBox } from "@/components/search-box";
import type { ClientQuota, ClientQuotasPage } from "@/lib/types";
import { QUOTA_KEYS, quotaWords, quotaText } from "@/lib/quotas";
import { words } from "@/words/access";

const say = words.quotaTable;

const column = createColumnHelper<ClientQuota>();

/** What the server orders them by. */
export const QUOTA_SORTS = ["words", ...QUOTA_KEYS] as const;

interface QuotaTableProps {
  quotas: ClientQuotasPage;
  view: TableView & { q?: string };
  onView: (view: TableView & { q?: string }) => void;
  canWrite: boolean;
  onChange: (row: ClientQuota) => void;
  empty: ReactNode;
}

/** Who is bounded and how much each broker lets through. */
export function QuotaTable({ quotas, view, onView, canWrite, onChange, empty }: QuotaTableProps) {
  const columns = [
    column.accessor("words", {
      header: say.of,
      cell: (cell) => (
        <span className="ps-mono">
          <Breakable text={cell.getValue()} />
        </span>
      ),
    }),
    ...QUOTA_KEYS.map((key) =>
      column.accessor((row) => row.quotas[key] ?? undefined, {
        id: key,
        header: quotaWords[key].title,
        meta: { align: "right" as const, ...(key.endsWith("byte_rate") ? {} : { hideBelow: "sm" as const }) },
        cell: ({ row }) => {
          const value = row.original.quotas[key];
          return (
            <span title={value === null ? say.noQuotaOfItsOwn : say.perBroker(quotaWords[key].title, value)}>
              {quotaText(key, value)}
            </span>
          );
        },
      }),
    ),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original } }) =>
        canWrite &&
        !original.managed && (
          <Group justify="flex-end">
            <Button
              size="compact-xs"
              variant="default"
              aria-label={say.changeTheQuotasOf(original.words)}
              onClick={() => onChange(original)}
            >
              {say.change}
            </Button>
          </Group>
        ),
    }),
  ];
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox
          value={view.q ?? ""}
          label={say.searchQuotas}
          onChange={(q) => onView({ ...view, q: q || undefined, page: undefined })}
        />
      </div>
      <DataTable
        rows={quotas.data}
        paged={quotas}
        columns={columns}
        rowId={(row) => row.words}
        label={say.quotas}
        defaultSort="words"
        view={view}
        onView={onView}
        empty={view.q ? <Empty title={say.noQuotaMatches}>{say.searchForLess}</Empty> : empty}
      />
    </>
  );
}
