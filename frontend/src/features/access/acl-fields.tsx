import { Checkbox, Group, MultiSelect, SegmentedControl, Select, TextInput } from "@mantine/core";
import { type AclInput, isOnCluster, OPERATIONS, type Purpose } from "./acl-words";

interface AclFieldsProps {
  value: AclInput;
  onChange: (value: AclInput) => void;
}

/** "Consume", "produce", or any rule by hand; for whom is asked elsewhere. */
export function AclFields({ value, onChange }: AclFieldsProps) {
  const { purpose, custom } = value;
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label="Purpose"
        value={purpose}
        onChange={(next) => onChange({ ...value, purpose: next as Purpose })}
        data={[
          { value: "consume", label: "Consume" },
          { value: "produce", label: "Produce" },
          { value: "custom", label: "Custom rule" },
        ]}
      />
      {purpose === "custom" && (
        <CustomFields value={custom} onChange={(next) => onChange({ ...value, custom: next })} />
      )}
      {!isOnCluster(value) && (
        <>
          <TextInput
            label={purpose === "custom" && custom.type !== "TOPIC" ? "Name" : "Topic"}
            placeholder="orders.created"
            size="sm"
            spellCheck={false}
            value={value.name}
            onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
          />
          <Checkbox
            size="xs"
            label="And everything whose name starts like this"
            checked={value.prefixed}
            onChange={(event) => onChange({ ...value, prefixed: event.currentTarget.checked })}
          />
        </>
      )}
      {purpose === "consume" && (
        <TextInput
          label="Consumer group"
          description="The group the application reads in; needed to commit offsets."
          placeholder="orders-workers"
          size="sm"
          spellCheck={false}
          value={value.group}
          onChange={(event) => onChange({ ...value, group: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function CustomFields({
  value,
  onChange,
}: {
  value: AclInput["custom"];
  onChange: (value: AclInput["custom"]) => void;
}) {
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label="Rule"
          size="sm"
          allowDeselect={false}
          data={[
            { value: "ALLOW", label: "Allow" },
            { value: "DENY", label: "Deny (wins over every ALLOW)" },
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
          data={OPERATIONS[value.type].map((item) => ({
            value: item,
            label: item.toLowerCase().replaceAll("_", " "),
          }))}
          value={value.operations}
          onChange={(operations) => onChange({ ...value, operations })}
        />
        <TextInput
          label="From host"
          size="sm"
          description="* is anywhere"
          value={value.host}
          onChange={(event) => onChange({ ...value, host: event.currentTarget.value })}
        />
      </Group>
    </>
  );
}
