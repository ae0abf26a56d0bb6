import { Button, Checkbox, Group, NumberInput, Select, Stack, Table, TextInput } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { Quantity } from "@/components/quantity";
import { TopicSelect } from "@/components/topic-select";
import { usePage } from "@/lib/page";
import { useMostReplicas } from "@/lib/topic-search";
import { useDraft } from "@/lib/draft";
import type { Cluster, PlanInputs } from "@/lib/types";
import { words } from "@/words/reassignments";
import { ChosenTopics, DrainField, FactorField, isFactor } from "./move-fields";

const say = words.moveForm;

type MoveInputs = PlanInputs<"reassignment">;
type Move = NonNullable<MoveInputs["moves"]>[number];

interface MoveFormProps {
  cluster: Cluster;
  /** The largest replication factor of all topics. */
  mostReplicas: number;
  /** Where the input is kept; another preset is another form. */
  draft: string;
  preset?: string;
  busy: boolean;
  onPlan: (inputs: MoveInputs) => void;
}

type Mode = "spread" | "factor" | "drain" | "exact";
const MIB = 1024 * 1024;

/** Whole topics spread over brokers, another replication factor, a broker emptied, or exact replicas per partition. */
export function MoveForm({ cluster, mostReplicas, draft, preset, busy, onPlan }: MoveFormProps) {
  const [mode, setMode] = useDraft<Mode>(`${draft}/mode`, "spread");
  const [chosen, setChosen] = useDraft<string[]>(`${draft}/topics`, preset ? [preset] : []);
  const [brokers, setBrokers] = useDraft<string[]>(
    `${draft}/brokers`,
    cluster.brokers.map((broker) => String(broker.id)),
  );
  const [limit, setLimit] = useDraft<number | string>(`${draft}/limit`, 50);
  const [unlimited, setUnlimited] = useDraft(`${draft}/unlimited`, false);
  const [all, setAll] = useDraft(`${draft}/all`, false);
  const [excluded, setExcluded] = useDraft<string[]>(`${draft}/excluded`, []);
  const [exact, setExact] = useDraft<Move[]>(`${draft}/moves`, []);
  const [factor, setFactor] = useDraft<number | string>(`${draft}/factor`, 3);
  const [leaving, setLeaving] = useDraft(`${draft}/leaving`, "");
  const ofChosen = useMostReplicas(cluster.id, all ? [] : chosen);
  const copies = all ? mostReplicas : ofChosen;
  const kept = excluded.filter((id) => !brokers.includes(id));
  const tooFew = mode === "spread" && brokers.length + kept.length < copies;
  const live = cluster.brokers.filter((broker) => broker.alive).length;
  const named = all || chosen.length > 0;
  const ready = {
    spread: named && brokers.length > 0 && !tooFew,
    factor: named && isFactor(factor, live),
    drain: leaving !== "",
    exact: exact.length > 0,
  }[mode];
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    const throttle_bytes_per_s = unlimited ? undefined : Math.round(Number(limit) * MIB);
    const what = all ? { all_topics: true } : { topics: chosen };
    const keeping = kept.length > 0 ? { excluded_brokers: kept.map(Number) } : {};
    if (mode === "spread") onPlan({ ...what, target_brokers: brokers.map(Number), ...keeping, throttle_bytes_per_s });
    else if (mode === "factor") onPlan({ ...what, replication_factor: Number(factor), throttle_bytes_per_s });
    else if (mode === "drain") onPlan({ drain_broker: Number(leaving), throttle_bytes_per_s });
    else onPlan({ moves: exact, throttle_bytes_per_s });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="lg">
        <Select
          label={say.whatToDo}
          size="sm"
          maw={420}
          allowDeselect={false}
          value={mode}
          onChange={(value) => value && setMode(value)}
          data={[
            { value: "spread", label: say.spreadTopicsOverBrokers },
            { value: "factor", label: say.changeTheReplicationFactor },
            { value: "drain", label: say.drainABroker },
            { value: "exact", label: say.exactReplicas },
          ]}
        />
        {(mode === "spread" || mode === "factor") && (
          <ChosenTopics clusterId={cluster.id} value={chosen} onChange={setChosen} all={all} onAll={setAll} />
        )}
        {mode === "factor" && <FactorField live={live} value={factor} onChange={setFactor} />}
        {mode === "drain" && <DrainField brokers={cluster.brokers} value={leaving} onChange={setLeaving} />}
        {mode === "spread" && (
          <>
            <Checkbox.Group
              label={say.targetBrokers}
              description={say.racksBytesCopiesAndLeaders}
              value={brokers}
              onChange={setBrokers}
            >
              <Group mt={8} gap="lg">
                {cluster.brokers.map((broker) => (
                  <Checkbox
                    key={broker.id}
                    size="xs"
                    value={String(broker.id)}
                    disabled={!broker.alive && !brokers.includes(String(broker.id))}
                    label={`${broker.id}${broker.rack ? say.rack(broker.rack) : ""}${broker.alive ? "" : say.down}`}
                  />
                ))}
              </Group>
            </Checkbox.Group>
            <ExcludedBrokers
              brokers={cluster.brokers.filter((broker) => broker.alive && !brokers.includes(String(broker.id)))}
              value={kept}
              onChange={setExcluded}
            />
            {tooFew && <Notice tone="bad">{say.theChosenTopicsKeepCopies(copies)}</Notice>}
          </>
        )}
        {mode === "exact" && (
          <ExactMoves cluster={cluster} preset={preset ?? exact[0]?.topic} value={exact} onChange={setExact} />
        )}
        <Group align="flex-end" gap="md">
          <NumberInput
            label={say.atMostMibPerSecond}
            description={say.leavesBandwidthForClients}
            min={0.1}
            size="sm"
            w={280}
            disabled={unlimited}
            value={limit}
            onChange={setLimit}
          />
          <Checkbox
            size="xs"
            label={say.noLimit}
            checked={unlimited}
            onChange={(event) => setUnlimited(event.currentTarget.checked)}
            pb={9}
          />
        </Group>
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={!ready}>
            {say.reviewPlan}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ExcludedBrokersProps {
  /** Those that are alive and no targets. */
  brokers: Cluster["brokers"];
  value: string[];
  onChange: (ids: string[]) => void;
}

/** What becomes of brokers that are no targets: emptied of the topics, or left as they are. */
function ExcludedBrokers({ brokers, value, onChange }: ExcludedBrokersProps) {
  if (brokers.length === 0) return null;
  return (
    <Checkbox.Group
      label={say.leaveAsTheyAre}
      description={say.theseKeepWhatTheyHave}
      value={value}
      onChange={onChange}
    >
      <Group mt={8} gap="lg">
        {brokers.map((broker) => (
          <Checkbox key={broker.id} size="xs" value={String(broker.id)} label={say.leave(broker.id)} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}

interface ExactMovesProps {
  cluster: Cluster;
  preset?: string;
  value: Move[];
  onChange: (moves: Move[]) => void;
}

function ExactMoves({ cluster, preset, value, onChange }: ExactMovesProps) {
  const [topic, setTopic] = useState<string | null>(preset ?? null);
  return (
    <Stack gap="sm">
      <TopicSelect
        clusterId={cluster.id}
        label={say.topic}
        placeholder={say.chooseATopic}
        value={topic}
        size="sm"
        maw={420}
        onChange={(next) => {
          setTopic(next);
          onChange([]);
        }}
      />
      {topic && (
        <ExactTopic
          key={topic}
          clusterId={cluster.id}
          topic={topic}
          known={cluster.brokers.map((broker) => broker.id)}
          value={value}
          onChange={onChange}
        />
      )}
    </Stack>
  );
}

interface ExactTopicProps {
  clusterId: string;
  topic: string;
  known: number[];
  value: Move[];
  onChange: (moves: Move[]) => void;
}

const parseIds = (text: string): number[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);
const wrong = (ids: number[], known: number[]): string | null => {
  if (ids.length === 0) return say.atLeastOneBroker;
  if (new Set(ids).size !== ids.length) return say.aBrokerIsNamedTwice;
  return ids.every((id) => known.includes(id)) ? null : say.brokersAre(known.join(", "));
};

function ExactTopic({ clusterId, topic, known, value, onChange }: ExactTopicProps) {
  const query = usePage("topic/{cluster_id}/{topic}", { cluster_id: clusterId, topic }, false);
  const [texts, setTexts] = useState<Record<number, string>>({});
  const partitions = query.data?.parts.topic.data?.partitions ?? [];
  const change = (partition: number, text: string) => {
    setTexts((old) => ({ ...old, [partition]: text }));
    const ids = parseIds(text);
    const now = partitions.find((row) => row.partition === partition)?.replicas ?? [];
    const rest = value.filter((move) => move.partition !== partition);
    const same = ids.join() === now.join();
    onChange(same || wrong(ids, known) ? rest : [...rest, { topic, partition, replicas: ids }]);
  };
  if (query.isPending) return <span className="ps-muted">{say.readingTheTopic}</span>;
  return (
    <div className="ps-card" style={{ maxHeight: 420, overflowY: "auto" }}>
      <Table aria-label={say.replicasPerPartition}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say.partition}</Table.Th>
            <Table.Th>{say.size}</Table.Th>
            <Table.Th>{say.now}</Table.Th>
            <Table.Th>{say.replicasAfterwardsPreferred}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {partitions.map((row) => {
            const text =
              texts[row.partition] ??
              value.find((move) => move.partition === row.partition)?.replicas.join(", ") ??
              row.replicas.join(", ");
            return (
              <Table.Tr key={row.partition}>
                <Table.Td className="ps-tnum">{row.partition}</Table.Td>
                <Table.Td className="ps-tnum">
                  <Quantity of="bytes" value={row.size_bytes} />
                </Table.Td>
                <Table.Td className="ps-tnum ps-muted">{row.replicas.join(", ")}</Table.Td>
                <Table.Td>
                  <TextInput
                    size="xs"
                    maw={200}
                    aria-label={say.replicasOfPartition(row.partition)}
                    value={text}
                    error={wrong(parseIds(text), known)}
                    onChange={(event) => change(row.partition, event.currentTarget.value)}
                  />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </div>
  );
}
