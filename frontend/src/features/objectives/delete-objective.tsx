import { FormModal } from "@/components/form-modal";
import { DEFAULT_TARGET, TargetWords } from "@/components/quantity";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { OBJECTIVES } from "@/lib/insights";
import type { LagObjective } from "@/lib/objectives";

export function DeleteObjective({ objective, onClose }: { objective: LagObjective; onClose: () => void }) {
  const send = useChange(
    () =>
      api.delete("/api/v1/lag-objectives/{objective_id}", {
        blanks: { objective_id: objective.id },
        ifMatch: objective.etag,
      }),
    () => "The objective was deleted.",
    [OBJECTIVES],
  );
  return (
    <FormModal
      title="Delete the objective"
      opened
      danger
      onClose={onClose}
      submit="Delete"
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>
        What it covers is judged by the next wider objective, or by the default: <TargetWords {...DEFAULT_TARGET} />.
      </p>
    </FormModal>
  );
}
