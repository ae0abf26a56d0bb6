import { Checkbox, NumberInput, Select } from "@mantine/core";
import { TopicMultiSelect } from "@/components/topic-select";
import { plural } from "@/lib/format";
import type { Cluster } from "@/lib/types";

interface ChosenTopicsProps {
  clusterId: string;
  value: string[];
  onChange: (names: string[]) => void;
  all: boolean;
  onAll: (all: boolean) => void;
}

export function ChosenTopics({ clusterId, value, onChange, all, onAll }: ChosenTopicsProps) {
  return (
    <>
      <TopicMultiSelect
        clusterId={clusterId}
        label="Topics"
        placeholder={value.length === 0 ? "Choose topics" : undefined}
        value={value}
        onChange={onChange}
        clearable
        size="sm"
        maw={640}
        disabled={all}
      />
      <Checkbox size="xs" label="All topics" checked={all} onChange={(event) => onAll(event.currentTarget.checked)} />
    </>
  );
}

/** Whether a plan can be made of it: a whole number of replicas, for each a live broker. */
export const isFactor = (value: number | string, live: number): boolean =>
  Number.isInteger(Number(value)) && Number(value) >= 1 && Number(value) <= live;

interface FactorFieldProps {
  /** Brokers that are alive. */
  live: number;
  value: number | string;
  onChange: (value: number | string) => void;
}

export function FactorField({ live, value, onChange }: FactorFieldProps) {
  return (
    <NumberInput
      label="Replication factor"
      description="Replicas are added or removed by rack and load; none moves."
      min={1}
      allowDecimal={false}
      size="sm"
      w={280}
      value={value}
      onChange={onChange}
      error={isFactor(value, live) ? undefined : `From 1 to ${live}: ${plural(live, "broker")} alive`}
    />
  );
}

interface DrainFieldProps {
  brokers: Cluster["brokers"];
  value: string;
  onChange: (id: string) => void;
}

export function DrainField({ brokers, value, onChange }: DrainFieldProps) {
  return (
    <Select
      label="Broker to empty"
      description="All of its replicas and leadership go to the other live brokers, and nothing else moves. What cannot leave is named in the plan."
      placeholder="Choose a broker"
      size="sm"
      maw={420}
      data={brokers.map((broker) => ({
        value: String(broker.id),
        label: `${broker.id}${broker.rack ? ` (rack ${broker.rack})` : ""}${broker.alive ? "" : ", down"}`,
      }))}
      value={value || null}
      onChange={(next) => next && onChange(next)}
    />
  );
}
