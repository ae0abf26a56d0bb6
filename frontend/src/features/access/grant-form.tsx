import { Autocomplete, Button, Checkbox, Group, Modal, MultiSelect, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { AclBinding, KafkaUser } from "@/lib/types";
import { CLUSTER_RESOURCE, OPERATIONS, type Purpose, templateBindings } from "./acl-words";

interface GrantFormProps {
  opened: boolean;
  principal?: string;
  users: KafkaUser[];
  onClose: () => void;
  onPlan: (bindings: AclBinding[]) => void;
}

interface Custom {
  permission: string;
  type: string;
  operations: string[];
  host: string;
}

/** "Consume", "produce", or any rule by hand. */
export function GrantForm({ opened, principal, users, onClose, onPlan }: GrantFormProps) {
  const [user, setUser] = useState(principal?.replace(/^User:/, "") ?? "");
  const [purpose, setPurpose] = useState<Purpose>("consume");
  const [name, setName] = useState("");
  const [prefixed, setPrefixed] = useState(false);
  const [group, setGroup] = useState("");
  const [custom, setCustom] = useState<Custom>({ permission: "ALLOW", type: "TOPIC", operations: ["READ"], host: "*" });
  const who = `User:${user.trim()}`;
  const cluster = purpose === "custom" && custom.type === "CLUSTER";
  const ready = user.trim() !== "" && (cluster || name.trim() !== "") && (purpose !== "custom" || custom.operations.length > 0);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    if (purpose !== "custom") {
      onPlan(templateBindings(purpose, { principal: who, name: name.trim(), prefixed, group: group.trim() || undefined }));
      return;
    }
    onPlan(
      custom.operations.map((operation) => ({
        principal: who,
        host: custom.host.trim() || "*",
        operation,
        permission: custom.permission,
        resource_type: custom.type,
        resource_name: cluster ? CLUSTER_RESOURCE : name.trim(),
        pattern_type: prefixed && !cluster ? "PREFIXED" : "LITERAL",
      })),
    );
  };
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>Grant access</strong>} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Autocomplete
            label="User"
            data={users.filter((item) => !item.managed).map((item) => item.username)}
            value={user}
            onChange={setUser}
            size="sm"
            data-autofocus={principal ? undefined : true}
          />
          <SegmentedControl
            size="xs"
            aria-label="Purpose"
            value={purpose}
            onChange={(value) => setPurpose(value as Purpose)}
            data={[
              { value: "consume", label: "Consume" },
              { value: "produce", label: "Produce" },
              { value: "custom", label: "Custom rule" },
            ]}
          />
          {purpose === "custom" && <CustomFields value={custom} onChange={setCustom} />}
          {!cluster && (
            <>
              <TextInput
                label={purpose === "custom" && custom.type !== "TOPIC" ? "Name" : "Topic"}
                placeholder="orders.created"
                size="sm"
                spellCheck={false}
                value={name}
                onChange={(event) => setName(event.currentTarget.value)}
              />
              <Checkbox size="xs" label="And everything whose name starts like this" checked={prefixed} onChange={(event) => setPrefixed(event.currentTarget.checked)} />
            </>
          )}
          {purpose === "consume" && (
            <TextInput
              label="Consumer group"
              description="The group the application reads in; needed to commit offsets."
              placeholder="orders-workers"
              size="sm"
              spellCheck={false}
              value={group}
              onChange={(event) => setGroup(event.currentTarget.value)}
            />
          )}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!ready}>
              Review plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function CustomFields({ value, onChange }: { value: Custom; onChange: (value: Custom) => void }) {
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Rule"
          size="sm"
          allowDeselect={false}
          data={[
            { value: "ALLOW", label: "Allow" },
            { value: "DENY", label: "Deny (wins over every grant)" },
          ]}
          value={value.permission}
          onChange={(permission) => permission && onChange({ ...value, permission })}
        />
        <Select
          label="On"
          size="sm"
          allowDeselect={false}
          data={[
            { value: "TOPIC", label: "Topic" },
            { value: "GROUP", label: "Consumer group" },
            { value: "TRANSACTIONAL_ID", label: "Transactional id" },
            { value: "CLUSTER", label: "Cluster" },
          ]}
          value={value.type}
          onChange={(type) => type && onChange({ ...value, type, operations: [] })}
        />
      </Group>
      <Group grow align="flex-start">
        <MultiSelect
          label="Operations"
          size="sm"
          data={(OPERATIONS[value.type] ?? []).map((item) => ({ value: item, label: item.toLowerCase().replaceAll("_", " ") }))}
          value={value.operations}
          onChange={(operations) => onChange({ ...value, operations })}
        />
        <TextInput label="From host" size="sm" description="* is anywhere" value={value.host} onChange={(event) => onChange({ ...value, host: event.currentTarget.value })} />
      </Group>
    </>
  );
}
