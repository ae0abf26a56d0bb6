import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { Notice } from "@/components/notice";

type Mechanism = (typeof MECHANISMS)[number];

const MECHANISMS = ["SCRAM-SHA-512", "SCRAM-SHA-256"] as const;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

interface NewUserFormProps {
  opened: boolean;
  onClose: () => void;
  onPlan: (inputs: { username: string; mechanism: Mechanism }) => void;
}

export function NewUserForm({ opened, onClose, onPlan }: NewUserFormProps) {
  const form = useForm({
    initialValues: { username: "", mechanism: MECHANISMS[0] as Mechanism },
    validate: { username: (value) => (NAME.test(value) ? null : "Letters, digits, dot, dash and underscore, starting with a letter or digit") },
  });
  const submit = form.onSubmit((values) => {
    onPlan(values);
    form.reset();
  });
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>New user</strong>}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput label="User name" placeholder="orders-service" size="sm" autoComplete="off" data-autofocus {...form.getInputProps("username")} />
          <Select label="Signs in with" data={[...MECHANISMS]} allowDeselect={false} size="sm" {...form.getInputProps("mechanism")} />
          <Notice tone="info">The password is generated. It can be shown once, after the brokers have accepted the user.</Notice>
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">Review plan</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
