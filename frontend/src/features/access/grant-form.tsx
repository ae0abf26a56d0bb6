import { Autocomplete, Button, Group, Modal, Stack } from "@mantine/core";
import { useDraft } from "@/lib/draft";
import type { AclBinding, KafkaUser } from "@/lib/types";
import { EMPTY_GRANT, grantBindings } from "./acl-words";
import { GrantFields } from "./grant-fields";

interface GrantFormProps {
  opened: boolean;
  principal?: string;
  users: KafkaUser[];
  /** Where the input is kept. */
  draft: string;
  onClose: () => void;
  onPlan: (bindings: AclBinding[]) => void;
}

/** Rules for a user who is there already. */
export function GrantForm({ opened, principal, users, draft, onClose, onPlan }: GrantFormProps) {
  const [user, setUser] = useDraft(`${draft}/user`, principal?.replace(/^User:/, "") ?? "");
  const [grant, setGrant] = useDraft(`${draft}/grant`, EMPTY_GRANT);
  const bindings = grantBindings(grant, user);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (bindings) onPlan(bindings);
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
          <GrantFields value={grant} onChange={setGrant} />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!bindings}>
              Review plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
