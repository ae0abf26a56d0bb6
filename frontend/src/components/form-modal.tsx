import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { isOutdated } from "@/lib/problem";
import { words } from "@/words/late-parts";
import { Dialog } from "./dialog";
import { ProblemPanel } from "./problem-panel";

const say = words.formModal;

interface FormModalProps {
  title: string;
  opened: boolean;
  onClose: () => void;
  onSubmit: () => void;
  submit: string;
  /** What is not yet filled in keeps the form from being sent. */
  ready?: boolean;
  pending: boolean;
  /** Why the last attempt was refused; what was typed stays. */
  error: unknown;
  danger?: boolean;
  children: ReactNode;
}

/** A few fields and what came of sending them. */
export function FormModal({
  title,
  opened,
  onClose,
  onSubmit,
  submit,
  ready = true,
  pending,
  error,
  danger = false,
  children,
}: FormModalProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !pending) onSubmit();
        }}
      >
        <Stack gap="md">
          {children}
          {error !== null && error !== undefined && <ProblemPanel error={error} />}
          {isOutdated(error) && <p style={{ margin: 0 }}>{say.closeThisFormTheList}</p>}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {say.cancel}
            </Button>
            <Button type="submit" loading={pending} disabled={!ready} color={danger ? "red" : undefined}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
