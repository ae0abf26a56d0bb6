import { Group, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { CHART_EVENTS } from "@/lib/chart-events";

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
    () => "The deployment is marked.",
    [CHART_EVENTS],
  );
  return (
    <FormModal
      title="Mark a deployment"
      opened
      onClose={onClose}
      submit="Mark it"
      ready={text.trim() !== "" && (about === "cluster" || name !== "")}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label="What was deployed"
        placeholder="billing 2.4.1"
        data-autofocus
        maxLength={TEXT_MAX}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group grow align="flex-start">
        <Select
          label="About"
          allowDeselect={false}
          data={[
            { value: "cluster", label: "the whole cluster" },
            { value: "topic", label: "a topic" },
            { value: "group", label: "a consumer group" },
          ]}
          value={about}
          onChange={(value) => setAbout((value ?? "cluster") as About)}
        />
        {about !== "cluster" && (
          <TextInput
            label={about === "topic" ? "Topic" : "Consumer group"}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Group>
      <p className="ps-muted" style={{ margin: 0 }}>
        A pipeline does the same with an API key: POST /api/v1/deployments.
      </p>
    </FormModal>
  );
}
