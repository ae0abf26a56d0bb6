import { Button, Group, NumberInput, Stack } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { Dialog } from "@/components/dialog";
import { formatInteger } from "@/lib/format";

interface AddPartitionsProps {
  opened: boolean;
  current: number;
  onClose: () => void;
  onPlan: (total: number) => void;
}

export function AddPartitions({ opened, current, onClose, onPlan }: AddPartitionsProps) {
  const [total, setTotal] = useState<number | string>(current * 2);
  const valid = Number(total) > current;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (valid) onPlan(Number(total));
  };
  return (
    <Dialog opened={opened} onClose={onClose} title="Add partitions">
      <form onSubmit={submit}>
        <Stack gap="md">
          <NumberInput
            label="Partitions afterwards"
            description={`Now ${formatInteger(current)}. The number can never be lowered again.`}
            min={current + 1}
            allowDecimal={false}
            size="sm"
            value={total}
            onChange={setTotal}
            error={valid ? undefined : `More than ${formatInteger(current)}`}
            data-autofocus
          />
          <Notice tone="warn">
            Records with the same key may land in another partition from then on: their order across the change is not
            kept.
          </Notice>
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!valid}>
              Review plan
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
