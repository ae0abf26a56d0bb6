import { Button, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { KeptFor } from "@/components/quantity";
import { formatDuration } from "@/lib/format";
import { Dialog } from "@/components/dialog";
import type { PlanInputs } from "@/lib/types";

type Given = Omit<PlanInputs<"topic.retention_lease">, "name">;

/** How long a lease may last, s. */
const SPANS = [3600, 6 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400];
const HOUR_MS = 3_600_000;
const GIB = 1024 ** 3;
/** What is offered first: twice as long as now, or two weeks. */
const offered = (nowMs: number | null): number =>
  Math.ceil((nowMs === null || nowMs < 0 ? 336 * HOUR_MS : 2 * nowMs) / HOUR_MS);

interface LeaseFormProps {
  /** retention.ms as it is; null: not known. */
  nowMs: number | null;
  /** What is asked for first, ms. */
  startMs?: number;
  onClose: () => void;
  onPlan: (given: Given) => void;
}

/** Keep a topic's records longer for a set time, because somebody would lose some unread. */
export function LeaseForm({ nowMs, startMs, onClose, onPlan }: LeaseFormProps) {
  const [hours, setHours] = useState<number | string>(startMs === undefined ? offered(nowMs) : startMs / HOUR_MS);
  const [forS, setForS] = useState(86_400);
  const [bound, setBound] = useState<number | string>("");
  const [reason, setReason] = useState("");
  const retentionMs = Math.round(Number(hours) * HOUR_MS);
  const valid = hours !== "" && retentionMs > Math.max(0, nowMs ?? 0);
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!valid) return;
    onPlan({
      retention_ms: retentionMs,
      for_s: forS,
      reason,
      ...(typeof bound === "number" ? { disk_bound_bytes: Math.round(bound * GIB) } : {}),
    });
  };
  return (
    <Dialog opened onClose={onClose} title="Keep records longer for a time">
      <form onSubmit={submit}>
        <Stack gap="md">
          <NumberInput
            label="Keep records for, hours"
            description={
              <>
                Now <KeptFor ms={nowMs} />.
                {valid && (
                  <>
                    {" "}
                    Under the lease <KeptFor ms={retentionMs} />.
                  </>
                )}
              </>
            }
            min={0}
            thousandSeparator=","
            value={hours}
            onChange={setHours}
            error={valid ? undefined : "Longer than now"}
            data-autofocus
          />
          <Select
            label="For the next"
            description="Afterwards the retention goes back by itself."
            allowDeselect={false}
            data={SPANS.map((span) => ({ value: String(span), label: formatDuration(span) }))}
            value={String(forS)}
            onChange={(value) => setForS(Number(value ?? 86_400))}
          />
          <NumberInput
            label="At most, GiB in one log directory"
            description="Optional: what the topic may hold at the end; the plan is refused when it would be more."
            min={0}
            value={bound}
            onChange={setBound}
          />
          <TextInput
            label="Reason"
            maxLength={300}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
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
