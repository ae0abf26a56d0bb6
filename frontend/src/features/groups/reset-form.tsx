import { Button, Group, MultiSelect, Radio, Stack } from "@mantine/core";
import { partitionId } from "@/components/partition-column";
import { useDraft } from "@/lib/draft";
import { toProblem } from "@/lib/problem";
import type { GroupDetail } from "@/lib/types";
import { words } from "@/words/groups";
import { type Chosen, inputsOf, type ResetInputs, STRATEGIES, type Strategy } from "./reset-strategies";
import { ResetTarget } from "./reset-target";

const say = words.resetForm;

/** Names offered at a time; typing finds the others. */
const OFFERED_MAX = 100;

/** An hour ago, as the field wants it: local time, to the minute. */
function anHourAgo(): string {
  const date = new Date(Date.now() - 3_600_000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What the server said of the inputs, by their name. */
function problemsOf(error: unknown): Record<string, string> {
  const rows = error ? (toProblem(error).errors ?? []) : [];
  return Object.fromEntries(rows.map((row) => [row.pointer.split("/")[2] ?? "", row.detail]));
}

interface ResetFormProps {
  clusterId: string;
  group: GroupDetail;
  /** Where the input is kept. */
  draft: string;
  busy: boolean;
  /** Why no plan can be made now. */
  blocked?: string;
  /** Why the last one could not. */
  error: unknown;
  onPlan: (inputs: ResetInputs) => void;
}

export function ResetForm({ clusterId, group, draft, busy, blocked, error, onPlan }: ResetFormProps) {
  const topics = [...new Set(group.offsets.map((row) => row.topic))].sort();
  const [chosen, setChosen] = useDraft<Chosen>(`${draft}/chosen`, {
    strategy: "earliest",
    time: anHourAgo(),
    number: 0,
    ago: 1,
    unit: "hours",
    file: "",
    fromGroup: "",
    topics: [],
    partitions: [],
  });
  const change = (next: Partial<Chosen>) => setChosen({ ...chosen, ...next });
  const inputs = inputsOf(chosen);
  const ofTopics = group.offsets.filter((row) => chosen.topics.length === 0 || chosen.topics.includes(row.topic));
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (inputs && !blocked) onPlan(inputs);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="lg">
        <Radio.Group
          label={say.startReadingFrom}
          value={chosen.strategy}
          onChange={(next) => change({ strategy: next as Strategy })}
        >
          <Stack gap={8} mt={8}>
            {STRATEGIES.map(({ id, label, description }) => (
              <Radio key={id} value={id} size="xs" label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        <ResetTarget
          clusterId={clusterId}
          group={group.group}
          chosen={chosen}
          onChange={change}
          problems={problemsOf(error)}
        />
        {chosen.strategy !== "file" && (
          <>
            <MultiSelect
              label={say.topics}
              description={chosen.strategy === "copy" ? say.whereverTheOtherHasACommit : say.allTopicsWithOffsets}
              placeholder={chosen.topics.length === 0 ? say.allTopics : undefined}
              data={topics}
              value={chosen.topics}
              onChange={(next) => change({ topics: next, partitions: [] })}
              limit={OFFERED_MAX}
              searchable
              clearable
              size="sm"
              maw={520}
            />
            <MultiSelect
              label={say.partitions}
              description={say.allPartitionsOfTopics}
              placeholder={chosen.partitions.length === 0 ? say.allPartitions : undefined}
              data={ofTopics.map(partitionId)}
              value={chosen.partitions}
              onChange={(next) => change({ partitions: next })}
              limit={OFFERED_MAX}
              searchable
              clearable
              size="sm"
              maw={520}
            />
          </>
        )}
        <Group justify="flex-end">
          {blocked && (
            <span id="reset-blocked" className="ps-muted" style={{ fontSize: "0.8125rem" }}>
              {blocked}
            </span>
          )}
          <Button
            type="submit"
            loading={busy}
            disabled={!inputs || blocked !== undefined}
            aria-describedby={blocked ? "reset-blocked" : undefined}
          >
            {say.reviewPlan}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
