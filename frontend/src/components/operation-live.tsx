import { Button, Group, Progress, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { formatDuration } from "@/lib/format";
import { useCancelOperation, useOperation } from "@/lib/plans";
import { percentDone, TERMINAL } from "@/lib/types";
import { Lines } from "./card";
import { Notice } from "./notice";
import { OneTimeSecret } from "./one-time-secret";
import { OperationSteps } from "./operation-steps";
import { ProblemPanel } from "./problem-panel";
import { OperationStatus } from "./status";
import { UndoButton } from "./undo-button";

interface OperationLiveProps {
  id: string;
  /** Shown once the operation has been verified. */
  done?: React.ReactNode;
  /** On the operation's own page the link to itself is left out. */
  standalone?: boolean;
}

/** An operation as it happens: state, steps, progress, error, cancel, undo. */
export function OperationLive({ id, done, standalone = false }: OperationLiveProps) {
  const { data: operation, error, isPending, refetch, live } = useOperation(id);
  const cancel = useCancelOperation();
  if (isPending) return <Lines rows={5} />;
  if (!operation) return <ProblemPanel error={error} onRetry={() => void refetch()} />;
  const settled = TERMINAL.has(operation.state);
  return (
    <Stack gap="md" data-testid="operation-live" data-state={operation.state}>
      <Group justify="space-between">
        <Group gap="md">
          <OperationStatus state={operation.state} />
          {!settled && operation.eta_seconds !== null && operation.eta_seconds !== undefined && (
            <span className="ps-muted ps-tnum">about {formatDuration(operation.eta_seconds)} left</span>
          )}
          {!settled && <span className="ps-muted">{live ? "live" : "refreshing every 1.5s"}</span>}
        </Group>
        <Group gap={8}>
          {operation.cancellable && !settled && (
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(id)}>
              Cancel operation
            </Button>
          )}
          {settled && operation.revertible && !operation.reverted_by && <UndoButton operation={operation} />}
          {!standalone && (
            <Link to="/operations/$operationId" params={{ operationId: id }} className="ps-link" style={{ fontSize: "0.8125rem" }}>
              Open operation
            </Link>
          )}
        </Group>
      </Group>
      {!settled && operation.progress && (
        <Progress value={percentDone(operation)} size="sm" aria-label="Operation progress" />
      )}
      {cancel.isError && <ProblemPanel error={cancel.error} />}
      {operation.error && (
        <Notice tone="bad" title={operation.error.title}>
          {operation.error.detail}
        </Notice>
      )}
      {operation.state === "cancelled" && <Notice tone="warn">Cancelled. What had been done was put back as far as its steps say.</Notice>}
      <OperationSteps operation={operation} />
      {operation.state === "succeeded" && operation.has_secret && <OneTimeSecret operationId={operation.id} />}
      {operation.state === "succeeded" && done}
    </Stack>
  );
}
