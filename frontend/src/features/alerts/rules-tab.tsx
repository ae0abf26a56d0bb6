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
import { exactInUnit, inUnit } from "@/lib/readings";
import { useSession } from "@/lib/session";
import type { AlertOverride, AlertRule } from "@/lib/types";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";
import { DeleteOverride, OverrideForm } from "./override-form";
import { OverrideTable } from "./override-table";

const say = words.rulesTab;

type Form =
  | { kind: "set"; rule: AlertRule | null }
  | { kind: "change"; override: AlertOverride }
  | { kind: "delete"; override: AlertOverride }
  | null;

const column = createColumnHelper<AlertRule>();

const REACH: Record<AlertRule["reach"], string> = {
  tenant: say.oneForTheTenant,
  cluster: say.oneACluster,
  group: say.oneAGroup,
  topic: say.oneATopic,
  operation: say.oneAnOperation,
};

const Threshold = ({ value, unit }: { value: number | null | undefined; unit: string }) => (
  <Reading words={inUnit(value, unit)} exact={exactInUnit(value, unit)} />
);

function Thresholds({ rule }: { rule: AlertRule }) {
  if (rule.thresholds.length === 0) return <span className="ps-muted">{say.noThreshold}</span>;
  return (
    <div style={{ display: "grid", gap: 2, padding: "3px 0" }}>
      {rule.thresholds.map((row) => (
        <div key={row.name}>
          <span className="ps-muted">{row.what}:</span>{" "}
          <strong>
            <Threshold value={row.value} unit={row.unit} />
          </strong>
          {row.value !== row.default && (
            <span className="ps-muted">{say.byDefault(<Threshold value={row.default} unit={row.unit} />)}</span>
          )}
        </div>
      ))}
    </div>
  );
}

const columns = (canWrite: boolean, set: (rule: AlertRule) => void) => [
  column.accessor("title", {
    header: say.rule,
    cell: ({ row: { original: rule } }) => (
      <div style={{ padding: "3px 0" }}>
        <Link to="/runbooks/$runbookId" params={{ runbookId: rule.runbook }} className="ps-link">
          {ruleTitle(rule.id)}
        </Link>
        <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
          {REACH[rule.reach]}
          {rule.overrides.length > 0 && say.setByYou(rule.overrides.length)}
        </div>
        <div className="ps-only-sm" style={{ fontSize: "0.75rem" }}>
          <Thresholds rule={rule} />
        </div>
      </div>
    ),
  }),
  column.accessor("severity", {
    header: say.severity,
    cell: ({ row: { original: rule } }) =>
      rule.enabled ? (
        <>
          <SeverityMark severity={rule.severity} />
          {rule.severity !== "critical" && (
            <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
              {say.orWorse}
            </div>
          )}
        </>
      ) : (
        <Status tone="muted" label={say.off} hint={say.theRuleIsNotAsked} />
      ),
  }),
  column.display({
    id: "thresholds",
    header: say.holdsWhen,
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <Thresholds rule={row.original} />,
  }),
  column.accessor("for_s", {
    header: say.firesAfter,
    meta: { hideBelow: "md", align: "right" },
    cell: ({ getValue }) => (getValue() === 0 ? say.atOnce : <Quantity of="span" value={getValue()} />),
  }),
  column.accessor("clear_s", {
    header: say.resolvesAfter,
    meta: { hideBelow: "md", align: "right" },
    cell: ({ getValue }) => (getValue() === 0 ? say.atOnce : <Quantity of="span" value={getValue()} />),
  }),
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row: { original: rule } }) =>
      canWrite && (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={say.set(ruleTitle(rule.id))}
          leftSection={<IconAdjustments size={13} />}
          onClick={() => set(rule)}
        >
          {say.set2}
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
        title={say.setByTheTenant}
        aside={
          canWrite && (
            <Button
              leftSection={<IconPlus size={15} />}
              disabled={known.length === 0}
              onClick={() => setForm({ kind: "set", rule: null })}
            >
              {say.setARule}
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
              empty={<Empty title={say.allRulesAreAsThey}>{say.thresholdsSeverityAndWhetherA}</Empty>}
            />
          )}
        </ListView>
      </Card>
      <Card title={say.rulesAsTheyAreFor}>
        <ListView query={rules}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns(canWrite, (rule) => setForm({ kind: "set", rule }))}
              rowId={(rule) => rule.id}
              label={say.rules}
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
