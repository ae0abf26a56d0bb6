/** The limit of an operation that copies replicas, and the form that changes it while it does. */
import { Button, Group, NumberInput, Stack } from "@mantine/core";
import { useState } from "react";
import { useChangeLimit, useLimit } from "@/lib/moves";
import { TERMINAL } from "@/lib/operations";
import type { Operation } from "@/lib/types";
import { words } from "@/words/plans";
import { Card, Lines } from "./card";
import { ProblemPanel } from "./problem-panel";
import { Quantity } from "./quantity";

const say = words.moveProgress;

const MIB = 1024 * 1024;
/** Kinds that copy replicas and are no reassignment, whose partitions have a card with the limit. */
const COPYING: ReadonlySet<string> = new Set(["cluster.replace_broker", "cluster.empty_log_directory"]);

interface FormProps {
  operationId: string;
  now: number | null;
  /** Bytes a second, below which the brokers take none. */
  least?: number;
}

export function LimitForm({ operationId, now, least = 1024 }: FormProps) {
  const [wanted, setWanted] = useState<number | string>(now === null ? "" : Math.round((now / MIB) * 1000) / 1000);
  const change = useChangeLimit(operationId);
  const bytes = Math.round(Number(wanted) * MIB);
  return (
    <Stack gap={8}>
      <Group gap={8} align="flex-end">
        <NumberInput
          label={say.limitPerBrokerMibS}
          description={now === null ? say.noLimitNow : say.limitNow(<Quantity of="byteRate" value={now} />)}
          min={Math.max(0.001, least / MIB)}
          decimalScale={3}
          value={wanted}
          onChange={setWanted}
          w={180}
        />
        <Button
          variant="default"
          disabled={!(bytes >= least) || bytes === now}
          loading={change.isPending}
          onClick={() => change.mutate(bytes)}
        >
          {say.changeLimit}
        </Button>
        {now !== null && (
          <Button variant="subtle" loading={change.isPending} onClick={() => change.mutate(null)}>
            {say.liftLimit}
          </Button>
        )}
      </Group>
      {change.isError && <ProblemPanel error={change.error} />}
    </Stack>
  );
}

/** Nothing of operations that copy no replicas, or have ended. */
export function CopyLimit({ operation, canWrite }: { operation: Operation; canWrite: boolean }) {
  if (!COPYING.has(operation.kind) || TERMINAL.has(operation.state)) return null;
  return <Limit operation={operation} canWrite={canWrite} />;
}

function Limit({ operation, canWrite }: { operation: Operation; canWrite: boolean }) {
  const query = useLimit(operation.id);
  if (query.isPending) return <Lines rows={2} />;
  if (!query.data) return <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />;
  const { throttle_bytes_per_s: now, is_set: isSet, can_be_changed: canChange, least_bytes_per_s: least } = query.data;
  return (
    <Card title={say.limitOfWhatIsCopied} padded>
      <Stack gap={8}>
        {canChange && canWrite ? (
          <LimitForm key={String(now)} operationId={operation.id} now={now} least={least} />
        ) : (
          <span>{now === null ? say.noLimitNow : say.limitNow(<Quantity of="byteRate" value={now} />)}</span>
        )}
        <span className="ps-muted">
          {!canChange ? say.nothingIsCopied : isSet ? say.brokersHaveIt : say.noBrokerHasIt}
        </span>
      </Stack>
    </Card>
  );
}
