import { Group, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { type BackfillJob, localField, rangeFault } from "@/lib/backfills";
import { words } from "@/words/platform";

const say = words.backfillForm;

const DAY_MS = 86_400_000;

/** A range of whole hours or days to be computed again, by the code that computed them first. */
export function BackfillForm({ onClose }: { onClose: () => void }) {
  const [openedAt] = useState(() => Date.now());
  const [job, setJob] = useState<BackfillJob>("hourly");
  const [from, setFrom] = useState(() => localField(new Date(openedAt - DAY_MS)));
  const [to, setTo] = useState(() => localField(new Date(openedAt)));
  const fault = rangeFault(Date.parse(from), Date.parse(to), openedAt);
  const send = useChange(
    () =>
      api.post("/api/v1/operator/analytics/backfills", {
        body: { job, from: new Date(from).toISOString(), to: new Date(to).toISOString() },
      }),
    () => say.askedForItBeginsWhen,
  );
  return (
    <FormModal
      title={say.computeARangeAgain}
      opened
      onClose={onClose}
      submit={say.computeIt}
      ready={fault === ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <SegmentedControl
        aria-label={say.whatIsComputed}
        data={[
          { value: "hourly", label: say.hours },
          { value: "daily", label: say.days },
        ]}
        value={job}
        onChange={(value) => setJob(value as BackfillJob)}
      />
      <Group grow align="flex-start">
        <TextInput
          type="datetime-local"
          label={say.fromYourTime}
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label={say.untilYourTime}
          value={to}
          error={fault || undefined}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      </Group>
      <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
        {say.ofEveryTenantWholeThat(job === "hourly" ? say.hours2 : say.daysUtc)}
      </p>
    </FormModal>
  );
}
