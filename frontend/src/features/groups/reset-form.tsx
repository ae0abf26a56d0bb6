import { Button, Group, MultiSelect, NumberInput, Radio, Stack, TextInput } from "@mantine/core";
import { useDraft } from "@/lib/draft";
import type { GroupDetail, PlanInputs } from "@/lib/types";

/** What a reset takes, but for the group, which the page knows. */
export type ResetInputs = Omit<PlanInputs<"offset.reset">, "group">;
type Strategy = ResetInputs["strategy"];

const STRATEGIES: [Strategy, string, string][] = [
  ["earliest", "The beginning", "Read everything that is still held once more."],
  ["latest", "The end", "Skip everything unread; start with what arrives from now on."],
  ["timestamp", "A point in time", "Start with the first record at or after it."],
  ["shift", "Some records back or forward", "Relative to the committed offset of each partition."],
  ["offset", "An exact offset", "The same number in every chosen partition."],
];

/** An hour ago, as the field wants it: local time, to the minute. */
function anHourAgo(): string {
  const date = new Date(Date.now() - 3_600_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface ResetFormProps {
  group: GroupDetail;
  /** Where the input is kept. */
  draft: string;
  busy: boolean;
  /** Why no plan can be made now. */
  blocked?: string;
  onPlan: (inputs: ResetInputs) => void;
}

export function ResetForm({ group, draft, busy, blocked, onPlan }: ResetFormProps) {
  const topics = [...new Set(group.offsets.map((row) => row.topic))].sort();
  const [chosen, setChosen] = useDraft<string[]>(`${draft}/topics`, []);
  const [strategy, setStrategy] = useDraft<Strategy>(`${draft}/strategy`, "earliest");
  const [time, setTime] = useDraft(`${draft}/time`, anHourAgo());
  const [number, setNumber] = useDraft<number | string>(`${draft}/number`, 0);
  const timestamp = new Date(time).getTime();
  const value =
    strategy === "timestamp" ? timestamp : strategy === "shift" || strategy === "offset" ? Number(number) : undefined;
  const valid = value === undefined || Number.isInteger(value);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (valid && !blocked) onPlan({ strategy, value, topics: chosen.length > 0 ? chosen : undefined });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="lg">
        <Radio.Group label="Start reading from" value={strategy} onChange={(next) => setStrategy(next as Strategy)}>
          <Stack gap={8} mt={8}>
            {STRATEGIES.map(([id, label, description]) => (
              <Radio key={id} value={id} size="xs" label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        {strategy === "timestamp" && (
          <TextInput
            type="datetime-local"
            label="Time (of this browser's zone)"
            description={Number.isNaN(timestamp) ? undefined : `${new Date(timestamp).toISOString().slice(0, 16)}Z`}
            size="sm"
            w={260}
            maw="100%"
            value={time}
            onChange={(event) => setTime(event.currentTarget.value)}
            error={valid ? undefined : "A date and a time"}
          />
        )}
        {strategy === "shift" && (
          <NumberInput
            label="Records"
            description="Negative goes back and reads again, positive skips."
            size="sm"
            w={220}
            allowDecimal={false}
            value={number}
            onChange={setNumber}
          />
        )}
        {strategy === "offset" && (
          <NumberInput
            label="Offset"
            min={0}
            size="sm"
            w={220}
            allowDecimal={false}
            value={number}
            onChange={setNumber}
          />
        )}
        <MultiSelect
          label="Topics"
          description="None chosen: all topics with committed offsets."
          placeholder={chosen.length === 0 ? "All topics of the group" : undefined}
          data={topics}
          value={chosen}
          onChange={setChosen}
          searchable
          clearable
          size="sm"
          maw={520}
        />
        <Group justify="flex-end">
          {blocked && (
            <span id="reset-blocked" className="ps-muted" style={{ fontSize: "0.8125rem" }}>
              {blocked}
            </span>
          )}
          <Button
            type="submit"
            loading={busy}
            disabled={!valid || blocked !== undefined}
            aria-describedby={blocked ? "reset-blocked" : undefined}
          >
            Review plan
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
