import { Button, Group, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { DAYS, type MaintenanceWindow, WINDOWS_MAX } from "@/lib/healing";
import { words } from "@/words/healing";

const say = words.form;
const NEW: MaintenanceWindow = { day: "sunday", begins: "02:00", minutes: 120 };

interface WindowsProps {
  windows: MaintenanceWindow[];
  zone: string;
  /** What they mean for whoever has them. */
  text: string;
  onChange: (windows: MaintenanceWindow[]) => void;
  onZone: (zone: string) => void;
}

/** Maintenance windows of a week, and the time zone of their clock once there is one. */
export function WindowsFields({ windows, zone, text, onChange, onZone }: WindowsProps) {
  const set = (at: number, change: Partial<MaintenanceWindow>) =>
    onChange(windows.map((each, index) => (index === at ? { ...each, ...change } : each)));
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0, display: "grid", gap: 8 }}>
      <legend style={{ padding: 0, fontSize: "0.875rem", fontWeight: 500 }}>{say.windows}</legend>
      <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
        {text}
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
      {windows.length > 0 && (
        <TextInput
          label={say.zone}
          description={say.zoneText}
          size="sm"
          maxLength={100}
          value={zone}
          onChange={(event) => onZone(event.currentTarget.value)}
        />
      )}
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
