import { Button, Group, Modal, Stack } from "@mantine/core";
import { UserBox } from "@/components/user-box";
import { useDraft } from "@/lib/draft";
import type { AclRule } from "@/lib/types";
import { words } from "@/words/access";
import { type AclInput, EMPTY_ACL, aclBindings } from "./acl-words";
import { AclFields } from "./acl-fields";
import { AclPreview } from "./acl-preview";

const say = words.aclForm;

interface AclFormProps {
  opened: boolean;
  principal?: string;
  /** What it begins with; nothing by default. */
  start?: AclInput;
  clusterId: string;
  /** Where the input is kept. */
  draft: string;
  onClose: () => void;
  onPlan: (bindings: AclRule[]) => void;
}

/** Rules for a user who is there already. */
export function AclForm({ opened, principal, start = EMPTY_ACL, clusterId, draft, onClose, onPlan }: AclFormProps) {
  const [user, setUser] = useDraft(`${draft}/user`, principal?.replace(/^User:/, "") ?? "");
  const [acl, setAcl] = useDraft(`${draft}/rules`, start);
  const bindings = aclBindings(acl, user);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (bindings) onPlan(bindings);
  };
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>{say.addAcls}</strong>} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <UserBox
            label={say.user}
            clusterId={clusterId}
            value={user}
            onChange={setUser}
            size="sm"
            data-autofocus={principal ? undefined : true}
          />
          <AclFields value={acl} onChange={setAcl} />
          <AclPreview bindings={bindings} />
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {say.cancel}
            </Button>
            <Button type="submit" disabled={!bindings}>
              {say.reviewPlan}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
