import { Button, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { KeptFor } from "@/components/quantity";
import { formatDuration } from "@/lib/format";
import { Dialog } from "@/components/dialog";
import type { PlanInputs } from "@/lib/types";
import { words } from "@/words/topics";

const say = words.leaseForm;

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
    <Dialog opened onClose={onClose} title={say.keepRecordsLonger}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <NumberInput
            label={say.keepRecordsForHours}
            description={
              valid
                ? say.nowAndUnderTheLease(<KeptFor ms={nowMs} />, <KeptFor ms={retentionMs} />)
                : say.now(<KeptFor ms={nowMs} />)
            }
            min={0}
            thousandSeparator=","
            value={hours}
            onChange={setHours}
            error={valid ? undefined : say.longerThanNow}
            data-autofocus
          />
          <Select
            label={say.forTheNext}
            description={say.goesBackByItself}
            allowDeselect={false}
            data={SPANS.map((span) => ({ value: String(span), label: formatDuration(span) }))}
            value={String(forS)}
            onChange={(value) => setForS(Number(value ?? 86_400))}
          />
          <NumberInput
            label={say.atMostInOneDirectory}
            description={say.whatItMayHold}
            min={0}
            value={bound}
            onChange={setBound}
          />
          <TextInput
            label={say.reason}
            maxLength={300}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
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
