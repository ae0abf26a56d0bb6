import { Button } from "@mantine/core";
import { IconAdjustments, IconPlus } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { SeverityMark } from "@/components/alert-marks";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { Quantity, Reading } from "@/components/quantity";
import { Status } from "@/components/status";
import { useAlertOverrides, useAlertRules } from "@/lib/alerts";
import { formatInteger } from "@/lib/format";
import { exactInUnit, inUnit } from "@/lib/readings";
import { useSession } from "@/lib/session";
import type { AlertOverride, AlertRule } from "@/lib/types";
import { DeleteOverride, OverrideForm } from "./override-form";
import { OverrideTable } from "./override-table";

type Form =
  | { kind: "set"; rule: AlertRule | null }
  | { kind: "change"; override: AlertOverride }
  | { kind: "delete"; override: AlertOverride }
  | null;

const column = createColumnHelper<AlertRule>();

const REACH: Record<AlertRule["reach"], string> = {
  tenant: "one for the tenant",
  cluster: "one a cluster",
  group: "one a group",
  topic: "one a topic",
  operation: "one an operation",
};

const Threshold = ({ value, unit }: { value: number | null | undefined; unit: string }) => (
  <Reading words={inUnit(value, unit)} exact={exactInUnit(value, unit)} />
);

function Thresholds({ rule }: { rule: AlertRule }) {
  if (rule.thresholds.length === 0) return <span className="ps-muted">no threshold</span>;
  return (
    <div style={{ display: "grid", gap: 2, padding: "3px 0" }}>
      {rule.thresholds.map((row) => (
        <div key={row.name}>
          <span className="ps-muted">{row.what}:</span>{" "}
          <strong>
            <Threshold value={row.value} unit={row.unit} />
          </strong>
          {row.value !== row.default && (
            <span className="ps-muted">
              , by default <Threshold value={row.default} unit={row.unit} />
            </span>
          )}
        </div>
      ))}
    </div>
  );
}

const columns = (canWrite: boolean, set: (rule: AlertRule) => void) => [
  column.accessor("title", {
    header: "Rule",
    cell: ({ row: { original: rule } }) => (
      <div style={{ padding: "3px 0" }}>
        <Link to="/runbooks/$runbookId" params={{ runbookId: rule.runbook }} className="ps-link">
          {rule.title}
        </Link>
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          {REACH[rule.reach]}
          {rule.overrides.length > 0 && `, ${formatInteger(rule.overrides.length)} set by you`}
        </div>
        <div className="ps-only-sm" style={{ fontSize: "0.75rem" }}>
          <Thresholds rule={rule} />
        </div>
      </div>
    ),
  }),
  column.accessor("severity", {
    header: "Severity",
    cell: ({ row: { original: rule } }) =>
      rule.enabled ? (
        <>
          <SeverityMark severity={rule.severity} />
          {rule.severity !== "critical" && (
            <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
              or worse
            </div>
          )}
        </>
      ) : (
        <Status tone="muted" label="Off" hint="The rule is not asked for the whole tenant." />
      ),
  }),
  column.display({
    id: "thresholds",
    header: "Holds when",
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <Thresholds rule={row.original} />,
  }),
  column.accessor("for_s", {
    header: "Fires after",
    meta: { hideBelow: "md", align: "right" },
    cell: ({ getValue }) => (getValue() === 0 ? "at once" : <Quantity of="span" value={getValue()} />),
  }),
  column.accessor("clear_s", {
    header: "Resolves after",
    meta: { hideBelow: "md", align: "right" },
    cell: ({ getValue }) => (getValue() === 0 ? "at once" : <Quantity of="span" value={getValue()} />),
  }),
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">Actions</span>,
    meta: { align: "right" },
    cell: ({ row: { original: rule } }) =>
      canWrite && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={`Set ${rule.title}`}
          leftSection={<IconAdjustments size={13} />}
          onClick={() => set(rule)}
        >
          Set
        </Button>
      ),
  }),
];

/** Every rule as it is for the tenant, and what the tenant has set for all or a part. */
export function RulesTab() {
  const rules = useAlertRules();
  const overrides = useAlertOverrides();
  const { data: session } = useSession();
  const canWrite = session?.can_write_tenant === true;
  const [form, setForm] = useState<Form>(null);
  const known = rules.data?.data ?? [];
  const close = () => setForm(null);
  return (
    <div className="ps-stack">
      <Card
        title="Set by the tenant"
        aside={
          canWrite && (
            <Button
              leftSection={<IconPlus size={15} />}
              disabled={known.length === 0}
              onClick={() => setForm({ kind: "set", rule: null })}
            >
              Set a rule
            </Button>
          )
        }
      >
        <ListView query={overrides}>
          {(rows) => (
            <OverrideTable
              overrides={rows}
              rules={known}
              canWrite={canWrite}
              onChange={(override) => setForm({ kind: "change", override })}
              onDelete={(override) => setForm({ kind: "delete", override })}
              empty={
                <Empty title="All rules are as they come">
                  Thresholds, severity and whether a rule is asked can be set for all, a cluster, a group or topics; the
                  narrowest wins.
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      <Card title="Rules, as they are for the whole tenant">
        <ListView query={rules}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns(canWrite, (rule) => setForm({ kind: "set", rule }))}
              rowId={(rule) => rule.id}
              label="Rules"
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "set" && <OverrideForm rules={known} rule={form.rule} onClose={close} />}
      {form?.kind === "change" && <OverrideForm rules={known} rule={null} override={form.override} onClose={close} />}
      {form?.kind === "delete" && <DeleteOverride override={form.override} onClose={close} />}
    </div>
  );
}
