import { Button, Group, Modal, Select, Stack, Stepper, TextInput } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { useDraft } from "@/lib/draft";
import type { PlanInputs } from "@/lib/types";
import { EMPTY_ACL, aclBindings } from "./acl-words";
import { AclFields } from "./acl-fields";
import { AclPreview } from "./acl-preview";

type NewUser = PlanInputs<"user.create">;
type Mechanism = NonNullable<NewUser["mechanism"]>;

const MECHANISMS: readonly [Mechanism, ...Mechanism[]] = ["SCRAM-SHA-512", "SCRAM-SHA-256"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

interface NewUserFormProps {
  opened: boolean;
  /** Where the input is kept; the password is made by the service and never here. */
  draft: string;
  onClose: () => void;
  onPlan: (inputs: NewUser) => void;
}

/** A user, and in the second step what it may do: one plan makes both. */
export function NewUserForm({ opened, draft, onClose, onPlan }: NewUserFormProps) {
  const [username, setUsername] = useDraft(`${draft}/username`, "");
  const [mechanism, setMechanism] = useDraft<Mechanism>(`${draft}/mechanism`, MECHANISMS[0]);
  const [acl, setAcl] = useDraft(`${draft}/rules`, EMPTY_ACL);
  const [step, setStep] = useState(0);
  const [attempted, setAttempted] = useState(false);
  const named = NAME.test(username);
  const bindings = aclBindings(acl, username);
  const leaveFirst = (then: () => void) => {
    setAttempted(true);
    if (named) then();
  };
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (step === 0) leaveFirst(() => onPlan({ username, mechanism }));
    else if (bindings) onPlan({ username, mechanism, acls: bindings });
  };
  return (
    <Modal opened={opened} onClose={onClose} title={<strong>New user</strong>} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Stepper
            active={step}
            size="xs"
            iconSize={24}
            onStepClick={(next) => (next === 0 ? setStep(0) : leaveFirst(() => setStep(1)))}
          >
            <Stepper.Step label="User" />
            <Stepper.Step label="Access" />
          </Stepper>
          {step === 0 ? (
            <>
              <TextInput
                label="User name"
                placeholder="orders-service"
                size="sm"
                autoComplete="off"
                spellCheck={false}
                data-autofocus
                value={username}
                onChange={(event) => setUsername(event.currentTarget.value)}
                error={
                  attempted && !named
                    ? "Letters, digits, dot, dash and underscore, starting with a letter or digit"
                    : undefined
                }
              />
              <Select
                label="Signs in with"
                data={[...MECHANISMS]}
                allowDeselect={false}
                size="sm"
                value={mechanism}
                onChange={(next) => next && setMechanism(next)}
              />
              <Notice tone="info">
                The password is generated. It can be shown once, after the brokers have accepted the user.
              </Notice>
            </>
          ) : (
            <>
              <div style={{ fontSize: "0.8125rem" }}>
                What <span className="ps-mono">{username}</span> may do. More rules can be added later.
              </div>
              <AclFields value={acl} onChange={setAcl} />
              <AclPreview bindings={bindings} />
            </>
          )}
          <Group justify="flex-end" gap={8}>
            {step === 0 ? (
              <>
                <Button variant="default" onClick={onClose}>
                  Cancel
                </Button>
                <Button variant="default" type="submit" title="Without access: it can be given later">
                  Review plan
                </Button>
                <Button onClick={() => leaveFirst(() => setStep(1))}>Next: access</Button>
              </>
            ) : (
              <>
                <Button variant="default" onClick={() => setStep(0)}>
                  Back
                </Button>
                <Button type="submit" disabled={!bindings}>
                  Review plan
                </Button>
              </>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
