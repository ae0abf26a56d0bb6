import { Checkbox, Group, MultiSelect, Select, Stack, TextInput } from "@mantine/core";
import { ACL_TEMPLATES } from "@/generated/settings";
import { words } from "@/words/access";
import { operationWords } from "@/lib/acl-words";
import { type AclInput, BY_HAND, OPERATIONS, templateOf, templateWords } from "./acl-words";

const say = words.aclFields;

interface AclFieldsProps {
  value: AclInput;
  onChange: (value: AclInput) => void;
}

/** A template and what it asks for, or any rule by hand; for whom is asked elsewhere. */
export function AclFields({ value, onChange }: AclFieldsProps) {
  const template = templateOf(value.template);
  const inWords = template && templateWords(template.name);
  const titleOf = (field: { name: string; title: string }) => inWords?.asks[field.name] ?? field.title;
  return (
    <>
      <Select
        label={say.whatItDoes}
        description={inWords?.text ?? say.anyRule}
        size="sm"
        allowDeselect={false}
        data={[
          ...ACL_TEMPLATES.map(({ name }) => ({ value: name, label: templateWords(name).title })),
          { value: BY_HAND, label: say.ruleByHand },
        ]}
        value={template ? template.name : BY_HAND}
        onChange={(next) => next && onChange({ ...value, template: next })}
      />
      {template?.asks.map((field) => (
        <Stack key={field.name} gap={6}>
          <TextInput
            label={titleOf(field)}
            description={field.is_required ? undefined : say.leftEmpty}
            placeholder={field.hint}
            size="sm"
            spellCheck={false}
            value={value.values[field.name] ?? ""}
            onChange={(event) =>
              onChange({ ...value, values: { ...value.values, [field.name]: event.currentTarget.value } })
            }
          />
          {field.may_be_prefix && (
            <Checkbox
              size="xs"
              label={say.everyWhoseNameStarts(titleOf(field).toLowerCase())}
              checked={value.prefixes.includes(field.name)}
              onChange={(event) =>
                onChange({
                  ...value,
                  prefixes: event.currentTarget.checked
                    ? [...value.prefixes, field.name]
                    : value.prefixes.filter((name) => name !== field.name),
                })
              }
            />
          )}
        </Stack>
      ))}
      {!template && <CustomFields value={value.custom} onChange={(custom) => onChange({ ...value, custom })} />}
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
          label={say.rule}
          size="sm"
          allowDeselect={false}
          data={[
            { value: "ALLOW", label: say.allow },
            { value: "DENY", label: say.deny },
          ]}
          value={value.permission}
          onChange={(permission) => permission && onChange({ ...value, permission })}
        />
        <Select
          label={say.on}
          size="sm"
          allowDeselect={false}
          data={[
            { value: "TOPIC", label: say.topic },
            { value: "GROUP", label: say.consumerGroup },
            { value: "TRANSACTIONAL_ID", label: say.transactionalId },
            { value: "CLUSTER", label: say.cluster },
          ]}
          value={value.type}
          onChange={(type) => type && onChange({ ...value, type, operations: [] })}
        />
      </Group>
      <Group grow align="flex-start">
        <MultiSelect
          label={say.operations}
          size="sm"
          data={OPERATIONS[value.type].map((item) => ({ value: item, label: operationWords(item) }))}
          value={value.operations}
          onChange={(operations) => onChange({ ...value, operations })}
        />
        <TextInput
          label={say.fromHost}
          size="sm"
          description={say.starIsAnywhere}
          value={value.host}
          onChange={(event) => onChange({ ...value, host: event.currentTarget.value })}
        />
      </Group>
      {value.type !== "CLUSTER" && (
        <>
          <TextInput
            label={value.type === "TOPIC" ? say.topic : say.name}
            placeholder="orders.created"
            size="sm"
            spellCheck={false}
            value={value.name}
            onChange={(event) => onChange({ ...value, name: event.currentTarget.value })}
          />
          <Checkbox
            size="xs"
            label={say.everythingWhoseNameStarts}
            checked={value.prefixed}
            onChange={(event) => onChange({ ...value, prefixed: event.currentTarget.checked })}
          />
        </>
      )}
    </>
  );
}
