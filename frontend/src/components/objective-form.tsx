import { Group, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { OBJECTIVES } from "@/lib/insights";
import { inUnits, type LagObjective } from "@/lib/objectives";
import { useOverview } from "@/lib/use-clusters";
import { FormModal } from "./form-modal";
import { TargetWords } from "./quantity";

/** The service's own bounds of a share, in per cent. */
const SHARE_MIN = 50;
const SHARE_MAX = 99.999;
const UNITS = [
  { value: "1", label: "seconds" },
  { value: "60", label: "minutes" },
  { value: "3600", label: "hours" },
  { value: "86400", label: "days" },
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
    () => "Set: burn rates are worked out by it from now on.",
    [OBJECTIVES],
  );
  const isFixed = objective !== undefined;
  return (
    <FormModal
      title={isFixed ? "Change the objective" : "Set a lag objective"}
      opened
      onClose={onClose}
      submit={isFixed ? "Save" : "Set it"}
      ready={ready}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Group grow align="flex-start">
        <Select
          label="Group"
          allowDeselect={false}
          disabled={isFixed}
          data={[
            { value: "literal", label: "is" },
            { value: "prefix", label: "begins with" },
          ]}
          value={match}
          onChange={(value) => setMatch((value ?? "literal") as LagObjective["match"])}
        />
        <TextInput
          label="Name"
          placeholder={match === "prefix" ? "a beginning" : "every group"}
          autoComplete="off"
          maxLength={255}
          disabled={isFixed}
          value={group}
          onChange={(event) => setGroup(event.currentTarget.value)}
        />
      </Group>
      <Group grow align="flex-start">
        <TextInput
          label="Topic"
          placeholder="every topic"
          autoComplete="off"
          maxLength={249}
          disabled={isFixed}
          value={topic}
          onChange={(event) => setTopic(event.currentTarget.value)}
        />
        <Select
          label="Cluster"
          allowDeselect={false}
          disabled={isFixed}
          data={[
            { value: "", label: "Every cluster" },
            ...clusters.map((cluster) => ({ value: cluster.id, label: cluster.name })),
          ]}
          value={clusterId}
          onChange={(value) => setClusterId(value ?? "")}
        />
      </Group>
      <Group grow align="flex-start">
        <NumberInput label="Behind by at most" min={0} value={amount} onChange={setAmount} data-autofocus />
        <Select
          label="Unit"
          allowDeselect={false}
          data={UNITS}
          value={String(unitS)}
          onChange={(value) => setUnitS(Number(value ?? 1))}
        />
        <NumberInput
          label="Of the time, %"
          min={SHARE_MIN}
          max={SHARE_MAX}
          decimalScale={3}
          clampBehavior="none"
          value={percent}
          onChange={setPercent}
          error={isShare ? undefined : `${SHARE_MIN} to ${SHARE_MAX}`}
        />
      </Group>
      <TextInput label="Note" maxLength={300} value={note} onChange={(event) => setNote(event.currentTarget.value)} />
      {ready && (
        <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
          <TargetWords {...target} />: over 14 days it may be later for {budgetWords(target.share)}.
        </p>
      )}
    </FormModal>
  );
}

/** The time within 14 days in which a group may be late. */
function budgetWords(share: number): string {
  const minutes = (1 - share) * 14 * 24 * 60;
  return minutes >= 120 ? `${Math.round(minutes / 6) / 10} h` : `${Math.round(minutes * 10) / 10} min`;
}
