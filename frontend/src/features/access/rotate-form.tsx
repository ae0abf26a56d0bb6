import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { formatExact } from "@/lib/format";
import type { PasswordOverlap, PlanInputs } from "@/lib/types";
import { useNow } from "@/lib/use-now";
import { words } from "@/words/access";

const say = words.rotateForm;

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const TIMES: [seconds: number, label: string][] = [
  [0, say.atOnce],
  [HOUR_S, say.afterHours(1)],
  [8 * HOUR_S, say.afterHours(8)],
  [DAY_S, say.afterDays(1)],
  [7 * DAY_S, say.afterDays(7)],
  [30 * DAY_S, say.afterDays(30)],
];

interface RotateFormProps {
  /** null keeps the form closed. */
  username: string | null;
  /** With it two passwords stand already: there is no place for a third. */
  overlap: PasswordOverlap | undefined;
  onClose: () => void;
  onPlan: (inputs: PlanInputs<"user.rotate">) => void;
}

/** A new password, and how long the old one works beside it. */
export function RotateForm({ username, overlap, onClose, onPlan }: RotateFormProps) {
  const [chosen, setChosen] = useState(String(DAY_S));
  const now = useNow();
  const overlapS = overlap ? 0 : Number(chosen);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (username) onPlan({ username, overlap_s: overlapS });
  };
  return (
    <Modal opened={username !== null} onClose={onClose} title={<strong>{say.newPasswordFor(username ?? "")}</strong>}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {overlap ? (
            <Notice tone="warn">{say.twoPasswordsStand}</Notice>
          ) : (
            <>
              <Select
                label={say.theOldPasswordEnds}
                data={TIMES.map(([seconds, label]) => ({ value: String(seconds), label }))}
                allowDeselect={false}
                size="sm"
                value={chosen}
                onChange={(next) => next && setChosen(next)}
              />
              <Notice tone={overlapS ? "info" : "warn"}>
                {overlapS ? say.bothWorkUntil(formatExact(new Date(now + overlapS * 1000))) : say.oldPasswordIsRefused}
              </Notice>
            </>
          )}
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {say.cancel}
            </Button>
            <Button type="submit">{say.reviewPlan}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
