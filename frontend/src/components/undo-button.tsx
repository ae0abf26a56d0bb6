import { Button } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useState } from "react";
import { kindLabel } from "@/lib/kinds";
import { useUndoPlan } from "@/lib/plans";
import type { Operation } from "@/lib/types";
import { PlanDialog } from "./plan-dialog";

/** Plans the reverse of a finished operation and shows it for confirmation. */
export function UndoButton({ operation }: { operation: Operation }) {
  const [opened, setOpened] = useState(false);
  const undo = useUndoPlan();
  const open = () => {
    setOpened(true);
    undo.mutate(operation.id);
  };
  return (
    <>
      <Button variant="default" leftSection={<IconArrowBackUp size={15} />} onClick={open}>
        Undo
      </Button>
      <PlanDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={`Undo: ${kindLabel(operation.kind).toLowerCase()}`}
        plan={undo.data}
        error={undo.error}
        onReplan={() => undo.mutate(operation.id)}
      />
    </>
  );
}
