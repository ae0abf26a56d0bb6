import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { OBJECTIVES } from "@/lib/insights";
import { inUnits, type LagObjective } from "@/lib/objectives";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/objective-parts";
import { FormModal } from "./form-modal";
import { TargetWords } from "./quantity";

const say = words.objectiveForm;

/** The service's own bounds of a share, in per cent. */
const SHARE_MIN = 50;
const SHARE_MAX = 99.999;
const UNITS = [
  { value: "1", label: say.seconds },
  { value: "60", label: say.minutes },
  { value: "3600", label: say.hours },
  { value: "86400", label: say.days },
];

interface ObjectiveFormProps {
  /** There already: how late is late is changed; what it covers stays. */
  objective?: LagObjective;
  /** What a new one is to cover. */
  start?: Partial<Pick<LagObjective, "cluster_id" | "group" | "topic">>;
  onClose: () => void;
}

/** How late groups may be, and for how much of the time. */
export function ObjectiveForm({ objective, start = {}, onClose }: ObjectiveFormProps) {
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const before = inUnits(objective?.seconds ?? 60);
  const [clusterId, setClusterId] = useState(objective?.cluster_id ?? start.cluster_id ?? "");
  const [match, setMatch] = useState<LagObjective["match"]>(objective?.match ?? "literal");
  const [group, setGroup] = useState(objective?.group ?? start.group ?? "");
  const [topic, setTopic] = useState(objective?.topic ?? start.topic ?? "");
  const [amount, setAmount] = useState<number | string>(before.amount);
  const [unitS, setUnitS] = useState(before.unitS);
  const [percent, setPercent] = useState<number | string>(Number(((objective?.share ?? 0.99) * 100).toFixed(3)));
  const [note, setNote] = useState(objective?.note ?? "");
  const isShare = typeof percent === "number" && percent >= SHARE_MIN && percent <= SHARE_MAX;
  const ready = typeof amount === "number" && amount >= 0 && isShare && (match === "literal" || group !== "");
  const target = { seconds: Number(amount) * unitS, share: Number((Number(percent) / 100).toFixed(7)) };
  const send = useChange(
    () =>
      objective
        ? api.put("/api/v1/lag-objectives/{objective_id}", {
            blanks: { objective_id: objective.id },
            body: { ...target, note },
            ifMatch: objective.etag,
          })
        : api.post("/api/v1/lag-objectives", {
            body: {
              ...target,
              note,
              cluster_id: clusterId || null,
              match: group ? match : "literal",
              group: group || null,
              topic: topic || null,
            },
          }),
    () => say.setBurnRatesAreWorked,
    [OBJECTIVES],
  );
  const isFixed = objective !== undefined;
  return (
    <FormModal
      title={isFixed ? say.changeTheObjective : say.setALagObjective}
      opened
      onClose={onClose}
      submit={isFixed ? say.save : say.setIt}
      ready={ready}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Group grow align="flex-start">
        <Select
          label={say.group}
          allowDeselect={false}
          disabled={isFixed}
          data={[
            { value: "literal", label: say.is },
            { value: "prefix", label: say.beginsWith },
          ]}
          value={match}
          onChange={(value) => setMatch((value ?? "literal") as LagObjective["match"])}
        />
        <TextInput
          label={say.name}
          placeholder={match === "prefix" ? say.aBeginning : say.everyGroup}
          autoComplete="off"
          maxLength={255}
          disabled={isFixed}
          value={group}
          onChange={(event) => setGroup(event.currentTarget.value)}
        />
      </Group>
      <Group grow align="flex-start">
        <TextInput
          label={say.topic}
          placeholder={say.everyTopic}
          autoComplete="off"
          maxLength={249}
          disabled={isFixed}
          value={topic}
          onChange={(event) => setTopic(event.currentTarget.value)}
        />
        <Select
          label={say.cluster}
          allowDeselect={false}
          disabled={isFixed}
          data={[
            { value: "", label: say.everyCluster },
            ...clusters.map((cluster) => ({ value: cluster.id, label: cluster.name })),
          ]}
          value={clusterId}
          onChange={(value) => setClusterId(value ?? "")}
        />
      </Group>
      <Group grow align="flex-start">
        <NumberInput label={say.behindByAtMost} min={0} value={amount} onChange={setAmount} data-autofocus />
        <Select
          label={say.unit}
          allowDeselect={false}
          data={UNITS}
          value={String(unitS)}
          onChange={(value) => setUnitS(Number(value ?? 1))}
        />
        <NumberInput
          label={say.ofTheTime}
          min={SHARE_MIN}
          max={SHARE_MAX}
          decimalScale={3}
          clampBehavior="none"
          value={percent}
          onChange={setPercent}
          error={isShare ? undefined : say.to(SHARE_MIN, SHARE_MAX)}
        />
      </Group>
      <TextInput
        label={say.note}
        maxLength={300}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {ready && (
        <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
          {say.over14DaysItMay(<TargetWords {...target} />, budgetWords(target.share))}
        </p>
      )}
    </FormModal>
  );
}

/** The time within 14 days in which a group may be late. */
function budgetWords(share: number): string {
  const minutes = (1 - share) * 14 * 24 * 60;
  return minutes >= 120 ? say.h(Math.round(minutes / 6) / 10) : say.min(Math.round(minutes * 10) / 10);
}
