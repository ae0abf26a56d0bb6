import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { inUnit } from "@/lib/readings";
import type { AlertOverride, AlertRule, AlertRuleId, AlertSeverity } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";

const AS_IT_IS = "";

type Resource = "group" | "topic" | "";
type Match = AlertOverride["match"];

interface Fields {
  rule: string;
  clusterId: string;
  resource: Resource;
  match: Match;
  name: string;
  thresholds: Record<string, number>;
  severity: AlertSeverity | "";
  enabled: "" | "on" | "off";
  note: string;
}

function fieldsOf(rule: AlertRule | null, override: AlertOverride | undefined): Fields {
  return {
    rule: override?.rule ?? rule?.id ?? "",
    clusterId: override?.cluster_id ?? "",
    resource: override?.resource ?? "",
    match: override?.match ?? "literal",
    name: override?.name ?? "",
    thresholds: { ...override?.thresholds },
    severity: override?.severity ?? "",
    enabled: override === undefined || override.enabled === null ? "" : override.enabled ? "on" : "off",
    note: override?.note ?? "",
  };
}

/** What is sent of a change; where it is for stays as it was made. */
const changeOf = (fields: Fields) => ({
  thresholds: fields.thresholds,
  severity: fields.severity || null,
  enabled: fields.enabled === "" ? null : fields.enabled === "on",
  note: fields.note,
});

const isSaid = (fields: Fields): boolean =>
  fields.rule !== "" &&
  (fields.resource === "" || fields.name !== "") &&
  (Object.keys(fields.thresholds).length > 0 || fields.severity !== "" || fields.enabled !== "");

interface OverrideFormProps {
  rules: AlertRule[];
  rule: AlertRule | null;
  /** There already: what it sets is changed. */
  override?: AlertOverride;
  onClose: () => void;
}

/** Thresholds, severity and whether a rule is asked, for all or a part; what is left empty stays as it is. */
export function OverrideForm({ rules, rule, override, onClose }: OverrideFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(rule, override));
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const set = (change: Partial<Fields>) => setFields((old) => ({ ...old, ...change }));
  const chosen = rules.find((row) => row.id === fields.rule);
  const send = useChange(
    () =>
      override
        ? api.put("/api/v1/alert-overrides/{override_id}", {
            blanks: { override_id: override.id },
            body: changeOf(fields),
            ifMatch: override.etag,
          })
        : api.post("/api/v1/alert-overrides", {
            body: {
              ...changeOf(fields),
              rule: fields.rule as AlertRuleId,
              cluster_id: fields.clusterId || null,
              resource: fields.resource || null,
              match: fields.resource ? fields.match : "literal",
              name: fields.resource ? fields.name : "",
            },
          }),
    () => "Set: the next round of the rules asks by it.",
  );
  return (
    <FormModal
      title={override ? "Change what is set" : "Set a rule"}
      opened
      onClose={onClose}
      submit="Save"
      ready={isSaid(fields)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Select
        label="Rule"
        placeholder="Choose a rule"
        allowDeselect={false}
        searchable
        disabled={override !== undefined}
        data={rules.map((row) => ({ value: row.id, label: row.title }))}
        value={fields.rule || null}
        onChange={(value) => set({ rule: value ?? "", thresholds: {} })}
      />
      <Group grow align="flex-start">
        <Select
          label="Cluster"
          allowDeselect={false}
          disabled={override !== undefined}
          data={[
            { value: "", label: "Every cluster" },
            ...clusters.map((cluster) => ({ value: cluster.id, label: cluster.name })),
          ]}
          value={fields.clusterId}
          onChange={(value) => set({ clusterId: value ?? "" })}
        />
        <Select
          label="Only for"
          allowDeselect={false}
          disabled={override !== undefined}
          data={[
            { value: "", label: "Everything there" },
            { value: "group", label: "Groups" },
            { value: "topic", label: "Topics" },
          ]}
          value={fields.resource}
          onChange={(value) => set({ resource: (value ?? "") as Resource })}
        />
      </Group>
      {fields.resource !== "" && (
        <Group grow align="flex-start">
          <Select
            label="Whose name"
            allowDeselect={false}
            disabled={override !== undefined}
            data={[
              { value: "literal", label: "is" },
              { value: "prefix", label: "begins with" },
            ]}
            value={fields.match}
            onChange={(value) => set({ match: (value ?? "literal") as Match })}
          />
          <TextInput
            label="Name"
            autoComplete="off"
            maxLength={255}
            disabled={override !== undefined}
            value={fields.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
        </Group>
      )}
      {chosen?.thresholds.map((row) => (
        <NumberInput
          key={row.name}
          label={row.what}
          description={`In ${unitWord(row.unit)}, from ${inUnit(row.least, row.unit)} to ${inUnit(row.most, row.unit)}. Now ${inUnit(row.value, row.unit)} for the tenant.`}
          placeholder="as it is"
          min={row.least}
          max={row.most}
          allowDecimal={row.unit === "ratio" || row.unit === "s"}
          decimalScale={3}
          thousandSeparator=","
          value={fields.thresholds[row.name] ?? ""}
          onChange={(value) => set({ thresholds: withNumber(fields.thresholds, row.name, value) })}
        />
      ))}
      <Group grow align="flex-start">
        <Select
          label="Severity"
          allowDeselect={false}
          data={[
            { value: AS_IT_IS, label: "As it is" },
            { value: "info", label: "Info" },
            { value: "warning", label: "Warning" },
            { value: "critical", label: "Critical" },
          ]}
          value={fields.severity}
          onChange={(value) => set({ severity: (value ?? "") as Fields["severity"] })}
        />
        <Select
          label="Asked"
          allowDeselect={false}
          data={[
            { value: AS_IT_IS, label: "As it is" },
            { value: "on", label: "Yes" },
            { value: "off", label: "No: it never fires there" },
          ]}
          value={fields.enabled}
          onChange={(value) => set({ enabled: (value ?? "") as Fields["enabled"] })}
        />
      </Group>
      <TextInput
        label="Note"
        placeholder="Why"
        maxLength={300}
        value={fields.note}
        onChange={(event) => set({ note: event.currentTarget.value })}
      />
    </FormModal>
  );
}

const unitWord = (unit: string): string => ({ s: "seconds", ratio: "parts of one" })[unit] ?? unit;

/** With this number, or without one where the field is empty. */
function withNumber(all: Record<string, number>, name: string, value: number | string): Record<string, number> {
  const others = Object.entries(all).filter(([other]) => other !== name);
  return Object.fromEntries(typeof value === "number" ? [...others, [name, value]] : others);
}

export function DeleteOverride({ override, onClose }: { override: AlertOverride; onClose: () => void }) {
  const send = useChange(
    () =>
      api.delete("/api/v1/alert-overrides/{override_id}", {
        blanks: { override_id: override.id },
        ifMatch: override.etag,
      }),
    () => "Deleted: what is set more widely holds again, at last the rule's default.",
  );
  return (
    <FormModal
      title="Delete what is set"
      opened
      danger
      onClose={onClose}
      submit="Delete"
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>
        <span className="ps-mono">{override.rule}</span> goes back to what is set more widely, at last to its default.
      </p>
    </FormModal>
  );
}
