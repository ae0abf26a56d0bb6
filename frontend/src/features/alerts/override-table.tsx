import { ActionIcon, Menu } from "@mantine/core";
import { IconAdjustments, IconDots } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { DataTable } from "@/components/data-table";
import { DeleteItem } from "@/components/more-menu";
import { exactInUnit, inUnit } from "@/lib/readings";
import type { AlertOverride, AlertRule } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";

const say = words.overrideTable;

const column = createColumnHelper<AlertOverride>();

const exactly = (value: number | null, unit: string) => exactInUnit(value, unit) ?? inUnit(value, unit);

/** "lag_s 5m, critical, off": what it sets, in words. */
export function settings(
  override: AlertOverride,
  rule: AlertRule | undefined,
  inWords: (value: number | null, unit: string) => string = inUnit,
): string {
  const thresholds = Object.entries(override.thresholds).map(([name, value]) => {
    const threshold = rule?.thresholds.find((row) => row.name === name);
    return threshold ? `${threshold.what}: ${inWords(value, threshold.unit)}` : `${name} ${value}`;
  });
  return [
    ...thresholds,
    ...(override.severity ? [say.severity(override.severity)] : []),
    ...(override.enabled === null ? [] : [override.enabled ? "on" : "off"]),
  ].join("; ");
}

export function whereOf(override: AlertOverride, clusters: Map<string, string>): string {
  const cluster = override.cluster_id ? (clusters.get(override.cluster_id) ?? override.cluster_id) : say.everyCluster;
  if (!override.resource) return override.cluster_id ? cluster : say.theWholeTenant;
  return `${override.resource} ${override.name}${override.match === "prefix" ? "…" : ""}, ${cluster}`;
}

interface OverrideTableProps {
  overrides: AlertOverride[];
  rules: AlertRule[];
  canWrite: boolean;
  onChange: (override: AlertOverride) => void;
  onDelete: (override: AlertOverride) => void;
  empty: ReactNode;
}

export function OverrideTable({ overrides, rules, canWrite, onChange, onDelete, empty }: OverrideTableProps) {
  const found = useOverview().data?.parts.clusters.data ?? [];
  const clusters = new Map(found.map((cluster) => [cluster.id, cluster.name]));
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const columns = [
    column.accessor((row) => ruleTitle(row.rule), { id: "rule", header: say.rule }),
    column.accessor((row) => whereOf(row, clusters), { id: "where", header: say.forWord }),
    column.accessor((row) => settings(row, byId.get(row.rule)), {
      id: "sets",
      header: say.sets,
      cell: ({ row: { original: row }, getValue }) => (
        <span title={settings(row, byId.get(row.rule), exactly)}>{getValue()}</span>
      ),
    }),
    column.accessor("note", { header: say.note, meta: { hideBelow: "md" } }),
    column.accessor("created_by", {
      header: say.by,
      meta: { hideBelow: "md" },
      cell: ({ getValue }) => <span className="ps-mono">{getValue()}</span>,
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) =>
        canWrite && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsForOf(ruleTitle(row.rule), whereOf(row, clusters))}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconAdjustments size={15} />} onClick={() => onChange(row)}>
                {say.change}
              </Menu.Item>
              <DeleteItem onClick={() => onDelete(row)}>{say.deleteWord}</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <DataTable rows={overrides} columns={columns} rowId={(row) => row.id} label={say.setByTheTenant} empty={empty} />
  );
}
