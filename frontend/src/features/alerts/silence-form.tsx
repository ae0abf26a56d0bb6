import { Group, SegmentedControl, Select, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { useAlertRules } from "@/lib/alerts";
import { api } from "@/lib/api-client";
import { formatDuration } from "@/lib/format";
import type { AlertRuleId, Silence } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";

const say = words.silenceForm;

/** How long a silence may last, s; 30 days is the most that the server takes. */
const SPANS = [900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400];

interface Matched {
  rule: string | null;
  cluster_id: string | null;
  subject: string;
}

/** A moment as a field for local date and time takes it. */
export const localMoment = (date: Date): string =>
  new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

interface SilenceFormProps {
  onClose: () => void;
  /** What it is to match; of an alert, the alert. */
  start?: Matched;
}

/** Tell nobody of matching alerts for a while, from now or from a time on. */
export function SilenceForm({ onClose, start }: SilenceFormProps) {
  const rules = useAlertRules();
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const [rule, setRule] = useState(start?.rule ?? "");
  const [clusterId, setClusterId] = useState(start?.cluster_id ?? "");
  const [match, setMatch] = useState<Silence["match"]>("literal");
  const [subject, setSubject] = useState(start?.subject ?? "");
  const [planned, setPlanned] = useState(false);
  const [startsAt, setStartsAt] = useState(() => localMoment(new Date(Date.now() + 3_600_000)));
  const [spanS, setSpanS] = useState(3600);
  const [reason, setReason] = useState("");
  const begins = planned ? Date.parse(startsAt) : Number.NaN;
  const send = useChange(
    () => {
      const from = planned ? begins : Date.now();
      return api.post("/api/v1/silences", {
        body: {
          rule: (rule || null) as AlertRuleId | null,
          cluster_id: clusterId || null,
          match,
          subject,
          starts_at: planned ? new Date(from).toISOString() : null,
          ends_at: new Date(from + spanS * 1000).toISOString(),
          reason,
        },
      });
    },
    (made) => (made.planned ? say.theMaintenanceWindowIsPlanned : say.silencedAlertsThatStillFire),
  );
  return (
    <FormModal
      title={planned ? say.planAMaintenanceWindow : say.silenceAlerts}
      opened
      onClose={onClose}
      submit={planned ? say.planIt : say.silence}
      ready={reason !== "" && (!planned || !Number.isNaN(begins))}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Group grow align="flex-start">
        <Select
          label={say.rule}
          allowDeselect={false}
          searchable
          data={[
            { value: "", label: say.anyRule },
            ...(rules.data?.data.map((row) => ({ value: String(row.id), label: ruleTitle(row.id) })) ??
              (rule ? [{ value: rule, label: rule }] : [])),
          ]}
          value={rule}
          onChange={(value) => setRule(value ?? "")}
        />
        <Select
          label={say.cluster}
          allowDeselect={false}
          data={[
            { value: "", label: say.anyCluster },
            ...clusters.map((cluster) => ({ value: cluster.id, label: cluster.name })),
          ]}
          value={clusterId}
          onChange={(value) => setClusterId(value ?? "")}
        />
      </Group>
      <Group grow align="flex-start">
        <Select
          label={say.aboutWhat}
          allowDeselect={false}
          data={[
            { value: "literal", label: say.is },
            { value: "prefix", label: say.beginsWith },
          ]}
          value={match}
          onChange={(value) => setMatch((value ?? "literal") as Silence["match"])}
        />
        <TextInput
          label={say.subject}
          placeholder={say.anything}
          description={say.groupTopicEmptyAnything}
          inputWrapperOrder={["label", "input", "description", "error"]}
          autoComplete="off"
          value={subject}
          onChange={(event) => setSubject(event.currentTarget.value)}
        />
      </Group>
      <SegmentedControl
        aria-label={say.whenItBegins}
        data={[
          { value: "now", label: say.fromNow },
          { value: "later", label: say.maintenanceWindow },
        ]}
        value={planned ? "later" : "now"}
        onChange={(value) => setPlanned(value === "later")}
      />
      <Group grow align="flex-start">
        {planned && (
          <TextInput
            type="datetime-local"
            label={say.beginsYourTime}
            value={startsAt}
            onChange={(event) => setStartsAt(event.currentTarget.value)}
          />
        )}
        <Select
          label={say.lasts}
          allowDeselect={false}
          data={SPANS.map((span) => ({ value: String(span), label: formatDuration(span) }))}
          value={String(spanS)}
          onChange={(value) => setSpanS(Number(value ?? 3600))}
        />
      </Group>
      <Textarea
        label={say.reason}
        placeholder={say.whyNoNotificationsAreNeeded}
        autosize
        minRows={2}
        maxLength={300}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {rule === "" && clusterId === "" && subject === "" && (
        <p className="ps-warn" style={{ margin: 0, fontSize: "0.8125rem" }}>
          {say.thisSilencesEveryAlertOf}
        </p>
      )}
    </FormModal>
  );
}

/** Another end or reason. */
export function ChangeSilence({ silence, onClose }: { silence: Silence; onClose: () => void }) {
  const [endsAt, setEndsAt] = useState(() => localMoment(new Date(silence.ends_at)));
  const [reason, setReason] = useState(silence.reason);
  const ends = Date.parse(endsAt);
  const send = useChange(
    () =>
      api.put("/api/v1/silences/{silence_id}", {
        blanks: { silence_id: silence.id },
        body: { ends_at: new Date(ends).toISOString(), reason },
        ifMatch: silence.etag,
      }),
    () => say.theSilenceWasChanged,
  );
  return (
    <FormModal
      title={say.changeTheSilence}
      opened
      onClose={onClose}
      submit={say.save}
      ready={!Number.isNaN(ends) && reason !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        type="datetime-local"
        label={say.endsYourTime}
        value={endsAt}
        onChange={(event) => setEndsAt(event.currentTarget.value)}
      />
      <Textarea
        label={say.reason}
        autosize
        minRows={2}
        maxLength={300}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormModal>
  );
}

export function EndSilence({ silence, onClose }: { silence: Silence; onClose: () => void }) {
  const send = useChange(
    () =>
      api.delete("/api/v1/silences/{silence_id}", {
        blanks: { silence_id: silence.id },
        ifMatch: silence.etag,
      }),
    () => say.theSilenceHasEndedAlerts,
  );
  return (
    <FormModal
      title={silence.state === "planned" ? say.giveUpTheMaintenanceWindow : say.endTheSilence}
      opened
      danger
      onClose={onClose}
      submit={say.endItNow}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.alertsThatItSilencedAnd}</p>
    </FormModal>
  );
}
