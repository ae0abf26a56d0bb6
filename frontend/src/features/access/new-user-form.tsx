import { Button, Group, Modal, Select, Stack, Stepper, TextInput } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { useDraft } from "@/lib/draft";
import type { PlanInputs } from "@/lib/types";
import { words } from "@/words/access";
import { EMPTY_ACL, aclBindings } from "./acl-words";
import { AclFields } from "./acl-fields";
import { AclPreview } from "./acl-preview";

const say = words.newUserForm;

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
    <Modal opened={opened} onClose={onClose} title={<strong>{say.newUser}</strong>} size="lg">
      <form onSubmit={submit}>
        <Stack gap="md">
          <Stepper
            active={step}
            size="xs"
            iconSize={24}
            onStepClick={(next) => (next === 0 ? setStep(0) : leaveFirst(() => setStep(1)))}
          >
            <Stepper.Step label={say.user} />
            <Stepper.Step label={say.access} />
          </Stepper>
          {step === 0 ? (
            <>
              <TextInput
                label={say.userName}
                placeholder={say.exampleName}
                size="sm"
                autoComplete="off"
                spellCheck={false}
                data-autofocus
                value={username}
                onChange={(event) => setUsername(event.currentTarget.value)}
                error={attempted && !named ? say.whatNames : undefined}
              />
              <Select
                label={say.signsInWith}
                data={[...MECHANISMS]}
                allowDeselect={false}
                size="sm"
                value={mechanism}
                onChange={(next) => next && setMechanism(next)}
              />
              <Notice tone="info">{say.passwordIsGenerated}</Notice>
            </>
          ) : (
            <>
              <div style={{ fontSize: "0.8125rem" }}>
                {say.whatUserMayDo(<span className="ps-mono">{username}</span>)}
              </div>
              <AclFields value={acl} onChange={setAcl} />
              <AclPreview bindings={bindings} />
            </>
          )}
          <Group justify="flex-end" gap={8}>
            {step === 0 ? (
              <>
                <Button variant="default" onClick={onClose}>
                  {say.cancel}
                </Button>
                <Button variant="default" type="submit" title={say.withoutAccess}>
                  {say.reviewPlan}
                </Button>
                <Button onClick={() => leaveFirst(() => setStep(1))}>{say.nextAccess}</Button>
              </>
            ) : (
              <>
                <Button variant="default" onClick={() => setStep(0)}>
                  {say.back}
                </Button>
                <Button type="submit" disabled={!bindings}>
                  {say.reviewPlan}
                </Button>
              </>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
