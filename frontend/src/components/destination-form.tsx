import { Group, MultiSelect, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useChange } from "@/lib/administration";
import type { BodyOf } from "@/lib/addresses";
import { useAlertRules } from "@/lib/alerts";
import { destinationWords, type Doors, KINDS } from "@/lib/destinations";
import type { AlertSeverity, Destination, DestinationKind } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { HOST_RULES, ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/destinations";
import { FormModal } from "./form-modal";

const say = words.destinationForm;
/** What waits for a person's word is told like an alert, though no rule judges it. */
const PROPOSALS = "healing-proposed";

type Taken = BodyOf<"/api/v1/destinations">;

interface Fields {
  kind: DestinationKind;
  name: string;
  enabled: boolean;
  severity: AlertSeverity;
  rules: string[];
  clusters: string[];
  resolved: boolean;
  url: string;
  ca: string;
  to: string[];
  /** Never stored, and never filled in from what is there. */
  secret: string;
}

const fieldsOf = (present: Destination | undefined): Fields => ({
  kind: present?.kind ?? "webhook",
  name: present?.name ?? "",
  enabled: present?.enabled ?? true,
  severity: present?.min_severity ?? "warning",
  rules: present?.rules ?? [],
  clusters: present?.clusters ?? [],
  resolved: present?.send_resolved ?? true,
  url: present?.config.url ?? "",
  ca: present?.config.ca_pem ?? "",
  to: present?.config.to ?? [],
  secret: "",
});

function configOf({ kind, url, ca, to }: Fields): NonNullable<Taken["config"]> {
  const takes = KINDS[kind];
  return {
    ...(takes.url && url ? { url } : {}),
    ...(takes.ca && ca ? { ca_pem: ca } : {}),
    ...(takes.to ? { to } : {}),
  };
}

function bodyOf(fields: Fields) {
  const secret = KINDS[fields.kind].secret;
  return {
    name: fields.name,
    enabled: fields.enabled,
    min_severity: fields.severity,
    rules: fields.rules,
    clusters: fields.clusters,
    send_resolved: fields.resolved,
    ...(secret && fields.secret ? { secrets: { [secret.name]: fields.secret } } : {}),
  };
}

function isReady(fields: Fields, isNew: boolean): boolean {
  const { url, to, secret } = KINDS[fields.kind];
  return (
    fields.name !== "" &&
    (!url || url.optional === true || fields.url !== "") &&
    (!to || fields.to.length > 0) &&
    (!isNew || !secret || secret.optional === true || fields.secret !== "")
  );
}

interface DestinationFormProps {
  destination?: Destination;
  doors: Doors;
  onClose: () => void;
}

/** A new destination, or another way of one. Secrets are typed and never shown again; left empty, they stay. */
export function DestinationForm({ destination, doors, onClose }: DestinationFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(destination));
  const set = (change: Partial<Fields>) => setFields((old) => ({ ...old, ...change }));
  const takes = KINDS[fields.kind];
  const { url, secret } = destinationWords[fields.kind];
  const isNew = destination === undefined;
  const send = useChange(
    () => {
      const config = configOf(fields);
      if (isNew) return doors.make({ ...bodyOf(fields), kind: fields.kind, config });
      const isOther = JSON.stringify(config) !== JSON.stringify(configOf(fieldsOf(destination)));
      const address = isOther ? { config } : {};
      return doors.change(destination, { ...bodyOf(fields), ...address });
    },
    (made) => say.theDestinationWas(made.name, isNew ? say.madeTestItNow : say.changed),
  );
  return (
    <FormModal
      title={isNew ? say.newDestination : say.destination(destination.name)}
      opened
      onClose={onClose}
      submit={isNew ? say.makeIt : say.save}
      ready={isReady(fields, isNew)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Group grow align="flex-start">
        <Select
          label={say.kind}
          allowDeselect={false}
          disabled={!isNew}
          data={Object.entries(destinationWords).map(([value, { label }]) => ({ value, label }))}
          value={fields.kind}
          onChange={(value) => set({ kind: (value ?? "webhook") as DestinationKind, secret: "" })}
        />
        <TextInput
          label={say.name}
          placeholder={say.onCall}
          autoComplete="off"
          maxLength={100}
          value={fields.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
      </Group>
      {url && (
        <TextInput
          label={url.label}
          placeholder={url.placeholder}
          description={takes.url?.optional ? say.optional : undefined}
          autoComplete="off"
          value={fields.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      )}
      {takes.to && (
        <TagsInput
          label={say.receivers}
          description={say.upTo20MailAddresses}
          maxTags={20}
          splitChars={[",", " ", ";"]}
          value={fields.to}
          onChange={(to) => set({ to })}
        />
      )}
      {secret && (
        <PasswordInput
          label={secret.label}
          description={secretHint(secret.hint, destination, takes.secret?.optional)}
          autoComplete="new-password"
          value={fields.secret}
          onChange={(event) => set({ secret: event.currentTarget.value })}
        />
      )}
      <WhatIsTold fields={fields} set={set}>
        {doors.owner === "tenant" ? (
          <OfTenant fields={fields} set={set} />
        ) : (
          <Rules known={HOST_RULES} fields={fields} set={set} />
        )}
      </WhatIsTold>
      {takes.ca && (
        <Textarea
          label={say.authoritiesThatAreTrusted}
          description={say.certificatesInPemOptional}
          autosize
          minRows={1}
          maxRows={6}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "0.75rem" } }}
          value={fields.ca}
          onChange={(event) => set({ ca: event.currentTarget.value })}
        />
      )}
    </FormModal>
  );
}

function secretHint(hint: string, present: Destination | undefined, optional: boolean | undefined): string {
  if (present?.has_secrets) return say.oneIsKept(hint);
  return optional ? say.isOptional(hint) : hint;
}

interface WhatIsToldProps {
  fields: Fields;
  set: (change: Partial<Fields>) => void;
}

function WhatIsTold({ fields, set, children }: WhatIsToldProps & { children: ReactNode }) {
  return (
    <>
      <Select
        label={say.minimumSeverity}
        allowDeselect={false}
        data={[
          { value: "info", label: say.infoEverything },
          { value: "warning", label: say.warning },
          { value: "critical", label: say.criticalOnly },
        ]}
        value={fields.severity}
        onChange={(value) => set({ severity: (value ?? "warning") as AlertSeverity })}
      />
      {children}
      <Group gap="xl">
        <Switch
          label={say.alsoWhenResolved}
          checked={fields.resolved}
          onChange={(event) => set({ resolved: event.currentTarget.checked })}
        />
        <Switch
          label={say.on}
          checked={fields.enabled}
          onChange={(event) => set({ enabled: event.currentTarget.checked })}
        />
      </Group>
    </>
  );
}

function Rules({ known, fields, set }: WhatIsToldProps & { known: readonly string[] }) {
  return (
    <MultiSelect
      label={say.rules}
      placeholder={fields.rules.length === 0 ? say.everyRule : undefined}
      searchable
      data={withChosen(
        [...known.map((id) => ({ value: id, label: ruleTitle(id) })), { value: PROPOSALS, label: say.proposals }],
        fields.rules,
      )}
      value={fields.rules}
      onChange={(chosen) => set({ rules: chosen })}
    />
  );
}

/** A tenant's own rules, and its clusters: hosts' alerts are about none. */
function OfTenant({ fields, set }: WhatIsToldProps) {
  const rules = useAlertRules();
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  return (
    <>
      <Rules known={rules.data?.data.map((row) => row.id) ?? []} fields={fields} set={set} />
      <MultiSelect
        label={say.clusters}
        placeholder={fields.clusters.length === 0 ? say.everyCluster : undefined}
        data={withChosen(
          clusters.map((row) => ({ value: row.id, label: row.name })),
          fields.clusters,
        )}
        value={fields.clusters}
        onChange={(chosen) => set({ clusters: chosen })}
      />
    </>
  );
}

/** What is chosen stays shown though it is not known any more. */
function withChosen(known: { value: string; label: string }[], chosen: string[]) {
  const ids = new Set(known.map((row) => row.value));
  return [...known, ...chosen.filter((id) => !ids.has(id)).map((id) => ({ value: id, label: id }))];
}
