import type { PlanUndo } from "@/lib/types";
import { words } from "@/words/plans";
import { Notice } from "./notice";

const say = words.undoFacts;

/** What undoing would put back and what it would not; plans without an undo say why among their warnings. */
export function UndoFacts({ undo, undone = false }: { undo: PlanUndo | null | undefined; undone?: boolean }) {
  if (!undo) return null;
  return (
    <Notice tone={undo.stays.length > 0 ? "warn" : "info"}>
      {undone ? say.itWasUndone : say.itCanBeUndone}: {undo.restores}.{undo.stays.map((text) => ` ${text}`)}
    </Notice>
  );
}
