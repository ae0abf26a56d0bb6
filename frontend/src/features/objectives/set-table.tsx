import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconPencil, IconTargetArrow } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { DeleteItem } from "@/components/more-menu";
import { DEFAULT_TARGET, TargetWords } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { coversWords, type LagObjective } from "@/lib/objectives";
import { words } from "@/words/objectives";

const say = words.setTable;

interface SetTableProps {
  rows: LagObjective[];
  clusters: Map<string, string>;
  /** Missing for those who may not. */
  onChange?: (objective: LagObjective) => void;
  onDelete?: (objective: LagObjective) => void;
}

const column = createColumnHelper<LagObjective>();

/** The objectives that are set; of several that cover a group the narrowest holds. */
export function SetTable({ rows, clusters, onChange, onDelete }: SetTableProps) {
  const words = (row: LagObjective) =>
    coversWords(row, row.cluster_id === null ? null : say.cluster(clusters.get(row.cluster_id) ?? row.cluster_id));
  const columns = [
    column.accessor(words, {
      id: "covers",
      header: say.covers,
      cell: ({ row, getValue }) => (
        <div style={{ overflowWrap: "anywhere", padding: "3px 0" }}>
          {getValue()}
          {row.original.note && (
            <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
              {row.original.note}
            </div>
          )}
        </div>
      ),
    }),
    column.accessor("seconds", { header: say.objective, cell: ({ row }) => <TargetWords {...row.original} /> }),
    column.accessor("created_at", {
      header: say.set,
      meta: { hideBelow: "sm" },
      cell: ({ row, getValue }) => (
        <>
          <RelTime at={getValue()} /> <span className="ps-muted">{say.by(row.original.created_by)}</span>
        </>
      ),
    }),
  ];
  const actions = column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row: { original: objective } }) => (
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="sm" aria-label={say.actionsForTheObjectiveOf(words(objective))}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => onChange?.(objective)}>
            {say.change}
          </Menu.Item>
          <DeleteItem onClick={() => onDelete?.(objective)}>{say.deleteWord}</DeleteItem>
        </Menu.Dropdown>
      </Menu>
    ),
  });
  return (
    <DataTable
      rows={rows}
      columns={onChange || onDelete ? [...columns, actions] : columns}
      rowId={(row) => row.id}
      label={say.setObjectives}
      defaultSort="covers"
      empty={
        <Empty icon={<IconTargetArrow size={20} />} title={say.nothingIsSet}>
          {say.everyGroupIsJudgedBy(<TargetWords {...DEFAULT_TARGET} />)}
        </Empty>
      }
    />
  );
}
