import { Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { CHART_EVENTS } from "@/lib/chart-events";
import { words } from "@/words/events";

const say = words.deploymentForm;

type About = "cluster" | "topic" | "group";

/** As long as the server takes it. */
const TEXT_MAX = 200;

/** Say on the timeline, and on every chart, that something was deployed just now. */
export function DeploymentForm({ clusterId, onClose }: { clusterId: string; onClose: () => void }) {
  const [text, setText] = useState("");
  const [about, setAbout] = useState<About>("cluster");
  const [name, setName] = useState("");
  const send = useChange(
    () =>
      api.post("/api/v1/deployments", {
        body: {
          text: text.trim(),
          cluster_id: clusterId,
          topic: about === "topic" ? name : null,
          group: about === "group" ? name : null,
        },
      }),
    () => say.theDeploymentIsMarked,
    [CHART_EVENTS],
  );
  return (
    <FormModal
      title={say.markADeployment}
      opened
      onClose={onClose}
      submit={say.markIt}
      ready={text.trim() !== "" && (about === "cluster" || name !== "")}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.whatWasDeployed}
        placeholder={say.billing241}
        data-autofocus
        maxLength={TEXT_MAX}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group grow align="flex-start">
        <Select
          label={say.about}
          allowDeselect={false}
          data={[
            { value: "cluster", label: say.theWholeCluster },
            { value: "topic", label: say.aTopic },
            { value: "group", label: say.aConsumerGroup },
          ]}
          value={about}
          onChange={(value) => setAbout((value ?? "cluster") as About)}
        />
        {about !== "cluster" && (
          <TextInput
            label={about === "topic" ? say.topic : say.consumerGroup}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Group>
      <p className="ps-muted" style={{ margin: 0 }}>
        {say.aPipelineDoesTheSame}
      </p>
    </FormModal>
  );
}
