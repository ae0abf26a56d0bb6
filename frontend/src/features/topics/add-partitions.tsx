import { Button, Group, NumberInput, Stack } from "@mantine/core";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { Dialog } from "@/components/dialog";
import { words } from "@/words/topic-partitions";

const say = words.addPartitions;

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
    <Dialog opened={opened} onClose={onClose} title={say.addPartitions}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <NumberInput
            label={say.partitionsAfterwards}
            description={say.nowAndNeverLowered(current)}
            min={current + 1}
            allowDecimal={false}
            size="sm"
            value={total}
            onChange={setTotal}
            error={valid ? undefined : say.moreThan(current)}
            data-autofocus
          />
          <Notice tone="warn">{say.keysMayMove}</Notice>
          <Group justify="flex-end" gap={8}>
            <Button variant="default" onClick={onClose}>
              {say.cancel}
            </Button>
            <Button type="submit" disabled={!valid}>
              {say.reviewPlan}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
