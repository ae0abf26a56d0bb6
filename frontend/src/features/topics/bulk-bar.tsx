import { Button, Group } from "@mantine/core";
import { words } from "@/words/topics";
import { BULK_MAX } from "./bulk-run";

const say = words.bulk;

export type BulkAction = "delete" | "retention";

interface BulkBarProps {
  chosen: string[];
  onClear: () => void;
  onAct: (action: BulkAction) => void;
}

/** What can be done with the topics that are chosen. */
export function BulkBar({ chosen, onClear, onAct }: BulkBarProps) {
  if (chosen.length === 0) return null;
  return (
    <Group gap="sm" px={14} py={8} role="group" aria-label={say.chosenTopics}>
      <span role="status">
        {chosen.length >= BULK_MAX ? say.chosenTheMost(chosen.length) : say.chosen(chosen.length)}
      </span>
      <Button size="xs" variant="default" onClick={() => onAct("retention")}>
        {say.changeRetention}
      </Button>
      <Button size="xs" color="red" variant="light" onClick={() => onAct("delete")}>
        {say.deleteWord}
      </Button>
      <Button size="xs" variant="subtle" onClick={onClear}>
        {say.chooseNone}
      </Button>
    </Group>
  );
}
