import { Radio, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import type { BodyOf } from "@/lib/addresses";
import { api } from "@/lib/api-client";
import type { RunbookRunDetail } from "@/lib/types";
import { words } from "@/words/runbooks";

const say = words.endRun;

type Ended = BodyOf<"/api/v1/runbook-runs/{runbook_run_id}/end">["outcome"];

const OUTCOMES: { value: Ended; label: string }[] = [
  { value: "resolved", label: say.resolvedItIsMended },
  { value: "unresolved", label: say.unresolvedItGoesOn },
  { value: "escalated", label: say.escalatedSomebodyElseGoesOn },
];

/** Says how a run came out; what works is known from that. */
export function EndRun({ run, onClose }: { run: RunbookRunDetail; onClose: () => void }) {
  const [outcome, setOutcome] = useState<Ended | "">("");
  const [note, setNote] = useState("");
  const send = useChange(
    () =>
      api.post("/api/v1/runbook-runs/{runbook_run_id}/end", {
        blanks: { runbook_run_id: run.id },
        body: { outcome: outcome || "unresolved", note },
      }),
    (made) => say.theRunIs(made.state),
  );
  return (
    <FormModal
      title={say.endTheRun}
      opened
      onClose={onClose}
      submit={say.endIt}
      ready={outcome !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Radio.Group label={say.howDidItComeOut} value={outcome} onChange={(value) => setOutcome(value as Ended)}>
        <Stack gap={8} mt={6}>
          {OUTCOMES.map((row) => (
            <Radio key={row.value} value={row.value} label={row.label} />
          ))}
        </Stack>
      </Radio.Group>
      <Textarea
        label={say.note}
        description={say.optionalWhatItWasAnd}
        autosize
        minRows={2}
        maxLength={2000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormModal>
  );
}
