import { Group, NativeSelect, NumberInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { areWindows, type Healing, inside } from "@/lib/healing";
import { words } from "@/words/healing";
import { WindowsFields } from "./windows-fields";

const say = words.form;
const MODES = ["off", "ask", "automatic"] as const;

interface HealingFormProps {
  clusterId: string;
  healing: Healing;
  onClose: () => void;
}

/** The policy of one cluster; what somebody else changed meanwhile is not written over. */
export function HealingForm({ clusterId, healing, onClose }: HealingFormProps) {
  const [mode, setMode] = useState(healing.mode);
  const [minutes, setMinutes] = useState<number | string>(healing.replace_after_s / 60);
  const [perDay, setPerDay] = useState<number | string>(healing.per_day_max);
  const [zone, setZone] = useState(healing.time_zone);
  const [windows, setWindows] = useState(healing.windows);
  const send = useChange(
    () =>
      api.put("/api/v1/clusters/{cluster_id}/healing", {
        blanks: { cluster_id: clusterId },
        body: {
          mode,
          replace_after_s: Math.round(Number(minutes) * 60),
          per_day_max: Number(perDay),
          windows,
          time_zone: zone,
        },
        ifMatch: healing.etag,
      }),
    () => say.saved,
  );
  const isReady = inside(minutes, 2, 10_080) && inside(perDay, 1, 10) && areWindows(windows);
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
      <NativeSelect
        label={say.mode}
        size="sm"
        value={mode}
        data={MODES.map((value) => ({ value, label: words.card[value] }))}
        onChange={(event) => setMode(event.currentTarget.value as Healing["mode"])}
      />
      <Group grow>
        <NumberInput label={say.after} size="sm" min={2} max={10_080} value={minutes} onChange={setMinutes} />
        <NumberInput label={say.perDay} size="sm" min={1} max={10} value={perDay} onChange={setPerDay} />
      </Group>
      <WindowsFields windows={windows} zone={zone} text={say.windowsText} onChange={setWindows} onZone={setZone} />
    </FormModal>
  );
}
