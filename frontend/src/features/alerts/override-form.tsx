import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { inUnit } from "@/lib/readings";
import type { AlertOverride, AlertRule, AlertRuleId, AlertSeverity } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";

const say = words.overrideForm;

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
    () => say.setTheNextRoundOf,
  );
  return (
    <FormModal
      title={override ? say.changeWhatIsSet : say.setARule}
      opened
      onClose={onClose}
      submit={say.save}
      ready={isSaid(fields)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Select
        label={say.rule}
        placeholder={say.chooseARule}
        allowDeselect={false}
        searchable
        disabled={override !== undefined}
        data={rules.map((row) => ({ value: row.id, label: ruleTitle(row.id) }))}
        value={fields.rule || null}
        onChange={(value) => set({ rule: value ?? "", thresholds: {} })}
      />
      <Group grow align="flex-start">
        <Select
          label={say.cluster}
          allowDeselect={false}
          disabled={override !== undefined}
          data={[
            { value: "", label: say.everyCluster },
            ...clusters.map((cluster) => ({ value: cluster.id, label: cluster.name })),
          ]}
          value={fields.clusterId}
          onChange={(value) => set({ clusterId: value ?? "" })}
        />
        <Select
          label={say.onlyFor}
          allowDeselect={false}
          disabled={override !== undefined}
          data={[
            { value: "", label: say.everythingThere },
            { value: "group", label: say.groups },
            { value: "topic", label: say.topics },
          ]}
          value={fields.resource}
          onChange={(value) => set({ resource: (value ?? "") as Resource })}
        />
      </Group>
      {fields.resource !== "" && (
        <Group grow align="flex-start">
          <Select
            label={say.whoseName}
            allowDeselect={false}
            disabled={override !== undefined}
            data={[
              { value: "literal", label: say.is },
              { value: "prefix", label: say.beginsWith },
            ]}
            value={fields.match}
            onChange={(value) => set({ match: (value ?? "literal") as Match })}
          />
          <TextInput
            label={say.name}
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
          description={say.inFromToNowFor(
            unitWord(row.unit),
            inUnit(row.least, row.unit),
            inUnit(row.most, row.unit),
            inUnit(row.value, row.unit),
          )}
          placeholder={say.asItIs2}
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
          label={say.severity}
          allowDeselect={false}
          data={[
            { value: AS_IT_IS, label: say.asItIs },
            { value: "info", label: say.info },
            { value: "warning", label: say.warning },
            { value: "critical", label: say.critical },
          ]}
          value={fields.severity}
          onChange={(value) => set({ severity: (value ?? "") as Fields["severity"] })}
        />
        <Select
          label={say.asked}
          allowDeselect={false}
          data={[
            { value: AS_IT_IS, label: say.asItIs },
            { value: "on", label: say.yes },
            { value: "off", label: say.noItNeverFiresThere },
          ]}
          value={fields.enabled}
          onChange={(value) => set({ enabled: (value ?? "") as Fields["enabled"] })}
        />
      </Group>
      <TextInput
        label={say.note}
        placeholder={say.why}
        maxLength={300}
        value={fields.note}
        onChange={(event) => set({ note: event.currentTarget.value })}
      />
    </FormModal>
  );
}

const UNITS: Record<string, string> = say.units;
const unitWord = (unit: string): string => UNITS[unit] ?? unit;

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
    () => say.deletedWhatIsSetMore,
  );
  return (
    <FormModal
      title={say.deleteWhatIsSet}
      opened
      danger
      onClose={onClose}
      submit={say.deleteWord}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>
        {say.goesBackToWhatIs(<strong title={override.rule}>{ruleTitle(override.rule)}</strong>)}
      </p>
    </FormModal>
  );
}
