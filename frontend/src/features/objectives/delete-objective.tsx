import { FormModal } from "@/components/form-modal";
import { DEFAULT_TARGET, TargetWords } from "@/components/quantity";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { OBJECTIVES } from "@/lib/insights";
import type { LagObjective } from "@/lib/objectives";
import { words } from "@/words/objectives";

const say = words.deleteObjective;

export function DeleteObjective({ objective, onClose }: { objective: LagObjective; onClose: () => void }) {
  const send = useChange(
    () =>
      api.delete("/api/v1/lag-objectives/{objective_id}", {
        blanks: { objective_id: objective.id },
        ifMatch: objective.etag,
      }),
    () => say.theObjectiveWasDeleted,
    [OBJECTIVES],
  );
  return (
    <FormModal
      title={say.deleteTheObjective}
      opened
      danger
      onClose={onClose}
      submit={say.deleteWord}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.whatItCoversIsJudged(<TargetWords {...DEFAULT_TARGET} />)}</p>
    </FormModal>
  );
}
