import { Checkbox, NumberInput, Select } from "@mantine/core";
import { TopicMultiSelect } from "@/components/topic-select";
import type { Cluster } from "@/lib/types";
import { words } from "@/words/reassignments";

const say = words.moveFields;

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
        label={say.topics}
        placeholder={value.length === 0 ? say.chooseTopics : undefined}
        value={value}
        onChange={onChange}
        clearable
        size="sm"
        maw={640}
        disabled={all}
      />
      <Checkbox
        size="xs"
        label={say.allTopics}
        checked={all}
        onChange={(event) => onAll(event.currentTarget.checked)}
      />
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
      label={say.replicationFactor}
      description={say.replicasAreAddedOrRemoved}
      min={1}
      allowDecimal={false}
      size="sm"
      w={280}
      value={value}
      onChange={onChange}
      error={isFactor(value, live) ? undefined : say.from1ToBrokersAlive(live)}
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
      label={say.brokerToEmpty}
      description={say.allOfItsReplicasAnd}
      placeholder={say.chooseABroker}
      size="sm"
      maw={420}
      data={brokers.map((broker) => ({
        value: String(broker.id),
        label: `${broker.id}${broker.rack ? say.rack(broker.rack) : ""}${broker.alive ? "" : say.down}`,
      }))}
      value={value || null}
      onChange={(next) => next && onChange(next)}
    />
  );
}
