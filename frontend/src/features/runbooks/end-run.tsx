import { Radio, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import { FormModal } from "@/components/form-modal";
import { useChange } from "@/lib/administration";
import type { BodyOf } from "@/lib/addresses";
import { api } from "@/lib/api-client";
import type { RunbookRunDetail } from "@/lib/types";

type Ended = BodyOf<"/api/v1/runbook-runs/{runbook_run_id}/end">["outcome"];

const OUTCOMES: { value: Ended; label: string }[] = [
  { value: "resolved", label: "Resolved: it is mended" },
  { value: "unresolved", label: "Unresolved: it goes on" },
  { value: "escalated", label: "Escalated: somebody else goes on" },
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
    (made) => `The run is ${made.state}.`,
  );
  return (
    <FormModal
      title="End the run"
      opened
      onClose={onClose}
      submit="End it"
      ready={outcome !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <Radio.Group label="How did it come out?" value={outcome} onChange={(value) => setOutcome(value as Ended)}>
        <Stack gap={8} mt={6}>
          {OUTCOMES.map((row) => (
            <Radio key={row.value} value={row.value} label={row.label} />
          ))}
        </Stack>
      </Radio.Group>
      <Textarea
        label="Note"
        description="Optional: what it was, and what helped."
        autosize
        minRows={2}
        maxLength={2000}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
    </FormModal>
  );
}
