import { Button, Group, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { DAYS, type Healing, type MaintenanceWindow, WINDOWS_MAX } from "@/lib/healing";
import { words } from "@/words/healing";

const say = words.form;
const MODES = ["off", "ask", "automatic"] as const;
const NEW: MaintenanceWindow = { day: "sunday", begins: "02:00", minutes: 120 };
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

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
  const isReady =
    inside(minutes, 2, 10_080) &&
    inside(perDay, 1, 10) &&
    windows.every((each) => TIME.test(each.begins) && inside(each.minutes, 15, 10_080));
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
      <Windows windows={windows} onChange={setWindows} />
      {windows.length > 0 && (
        <TextInput
          label={say.zone}
          description={say.zoneText}
          size="sm"
          maxLength={100}
          value={zone}
          onChange={(event) => setZone(event.currentTarget.value)}
        />
      )}
    </FormModal>
  );
}

const inside = (value: number | string, least: number, most: number) =>
  value !== "" && Number(value) >= least && Number(value) <= most;

interface WindowsProps {
  windows: MaintenanceWindow[];
  onChange: (windows: MaintenanceWindow[]) => void;
}

function Windows({ windows, onChange }: WindowsProps) {
  const set = (at: number, change: Partial<MaintenanceWindow>) =>
    onChange(windows.map((each, index) => (index === at ? { ...each, ...change } : each)));
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0, display: "grid", gap: 8 }}>
      <legend style={{ padding: 0, fontSize: "0.875rem", fontWeight: 500 }}>{say.windows}</legend>
      <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
        {say.windowsText}
      </p>
      {windows.map((each, at) => (
        <Group key={at} gap={8} align="end">
          <NativeSelect
            aria-label={say.dayOf(at + 1)}
            size="sm"
            value={each.day}
            data={DAYS.map((value) => ({ value, label: say.days[value] }))}
            onChange={(event) => set(at, { day: event.currentTarget.value as MaintenanceWindow["day"] })}
          />
          <TextInput
            aria-label={say.beginsOf(at + 1)}
            size="sm"
            w={90}
            type="time"
            value={each.begins}
            onChange={(event) => set(at, { begins: event.currentTarget.value })}
          />
          <NumberInput
            aria-label={say.minutesOf(at + 1)}
            size="sm"
            w={110}
            min={15}
            max={10_080}
            suffix=" min"
            value={each.minutes}
            onChange={(value) => set(at, { minutes: Number(value) })}
          />
          <Button
            size="sm"
            variant="subtle"
            aria-label={say.remove(at + 1)}
            onClick={() => onChange(windows.filter((_, index) => index !== at))}
          >
            ×
          </Button>
        </Group>
      ))}
      {windows.length < WINDOWS_MAX && (
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange([...windows, NEW])}>
            {say.add}
          </Button>
        </Group>
      )}
    </fieldset>
  );
}
