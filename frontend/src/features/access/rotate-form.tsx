import { Button, Group, Modal, Select, Stack } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { formatExact } from "@/lib/format";
import type { PasswordOverlap, PlanInputs } from "@/lib/types";
import { useNow } from "@/lib/use-now";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const TIMES: [seconds: number, label: string][] = [
  [0, "At once"],
  [HOUR_S, "After 1 hour"],
  [8 * HOUR_S, "After 8 hours"],
  [DAY_S, "After 1 day"],
  [7 * DAY_S, "After 7 days"],
  [30 * DAY_S, "After 30 days"],
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
    <Modal opened={username !== null} onClose={onClose} title={<strong>New password for {username}</strong>}>
      <form onSubmit={submit}>
        <Stack gap="md">
          {overlap ? (
            <Notice tone="warn">
              Two passwords stand already. A third one replaces both of them at once; to let one go on, end the old
              password first.
            </Notice>
          ) : (
            <>
              <Select
                label="The old password ends"
                data={TIMES.map(([seconds, label]) => ({ value: String(seconds), label }))}
                allowDeselect={false}
                size="sm"
                value={chosen}
                onChange={(next) => next && setChosen(next)}
              />
              <Notice tone={overlapS ? "info" : "warn"}>
                {overlapS
                  ? `Both passwords work until about ${formatExact(new Date(now + overlapS * 1000))}. The new one needs the other SCRAM mechanism: clients change both.`
                  : "Clients with the old password are refused at their next login."}
              </Notice>
            </>
          )}
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
