import { Group, NumberInput, Switch } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { areWindows, inside } from "@/lib/healing";
import type { RebalanceSchedule } from "@/lib/rebalance-schedule";
import { words } from "@/words/rebalance";
import { WindowsFields } from "./windows-fields";

const say = words.form;
const MIB = 2 ** 20;
const PERCENT_MIN = 5;
const PERCENT_MAX = 500;
const LIMIT_MIN_MIB = 0.001;
const LIMIT_MAX_MIB = 1_000_000;

interface RebalanceFormProps {
  clusterId: string;
  schedule: RebalanceSchedule;
  onClose: () => void;
}

/** The schedule of one cluster; what somebody else changed meanwhile is not written over. */
export function RebalanceForm({ clusterId, schedule, onClose }: RebalanceFormProps) {
  const [enabled, setEnabled] = useState(schedule.enabled);
  const [percent, setPercent] = useState<number | string>(schedule.threshold_percent);
  const [limit, setLimit] = useState<number | string>(schedule.throttle_bytes_per_s / MIB);
  const [zone, setZone] = useState(schedule.time_zone);
  const [windows, setWindows] = useState(schedule.windows);
  const send = useChange(
    () =>
      api.put("/api/v1/clusters/{cluster_id}/rebalance-schedule", {
        blanks: { cluster_id: clusterId },
        body: {
          enabled,
          threshold_percent: Number(percent),
          throttle_bytes_per_s: Math.round(Number(limit) * MIB),
          windows,
          time_zone: zone,
        },
        ifMatch: schedule.etag,
      }),
    () => say.saved,
  );
  const isReady =
    inside(percent, PERCENT_MIN, PERCENT_MAX) && inside(limit, LIMIT_MIN_MIB, LIMIT_MAX_MIB) && areWindows(windows);
  return (
    <FormModal
      title={say.title}
      opened
      onClose={onClose}
      submit={say.save}
      ready={isReady}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Switch label={say.enabled} checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
      <Group grow align="end">
        <NumberInput
          label={say.threshold}
          size="sm"
          min={PERCENT_MIN}
          max={PERCENT_MAX}
          allowDecimal={false}
          value={percent}
          onChange={setPercent}
        />
        <NumberInput
          label={say.limit}
          size="sm"
          min={LIMIT_MIN_MIB}
          max={LIMIT_MAX_MIB}
          value={limit}
          onChange={setLimit}
        />
      </Group>
      <WindowsFields windows={windows} zone={zone} text={say.windowsText} onChange={setWindows} onZone={setZone} />
    </FormModal>
  );
}
