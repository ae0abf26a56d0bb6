/** An operation shown live, and the dialog that plans the next one: an operation can be undone by a plan, whose operation is shown live again. */
import { Button, Group, Progress, Stack } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { isKind, kindLabel, kindWithin } from "@/lib/kinds";
import { percentDone, TERMINAL } from "@/lib/operations";
import { needOf, useMayWrite } from "@/lib/permissions";
import { useCancelOperation, useMakePlan, useOperation, useUndoPlan } from "@/lib/plans";
import { toProblem } from "@/lib/problem";
import type { NextPlan, Operation, OperationState, Plan, PlanRequest } from "@/lib/types";
import { words } from "@/words/plans";
import { words as scaling } from "@/words/scaling";
import { Lines } from "./card";
import { OneTimeSecret } from "./one-time-secret";
import { OperationAnnouncer, OperationOutcome } from "./operation-outcome";
import { OperationSteps } from "./operation-steps";
import { PlanReview } from "./plan-review";
import { InTheWay } from "./in-the-way";
import { ProblemPanel } from "./problem-panel";
import { Dialog } from "./dialog";
import { Quantity } from "./quantity";
import { PauseButton, RollProgress } from "./roll-progress";
import { OperationStatus } from "./status";

const say = words.operationLive;

interface OperationLiveProps {
  id: string;
  /** Shown once the operation has been verified. */
  done?: React.ReactNode;
  /** Told each state that it is in, from the first on. */
  onState?: (state: OperationState) => void;
  /** On the operation's own page the link to itself is left out. */
  standalone?: boolean;
}

/** An operation as it happens: state, steps, progress, error, cancel, undo. */
export function OperationLive({ id, done, onState, standalone = false }: OperationLiveProps) {
  const { data: operation, error, isPending, refetch, live } = useOperation(id, { isNew: !standalone });
  const cancel = useCancelOperation();
  const state = operation?.state;
  useEffect(() => {
    if (state) onState?.(state);
  }, [state, onState]);
  const may = useMayWrite();
  if (isPending) return <Lines rows={5} />;
  if (!operation) return <ProblemPanel error={error} onRetry={() => void refetch()} />;
  const settled = TERMINAL.has(operation.state);
  const need = needOf(operation);
  const canWrite = may(need.over, operation.cluster_id, need.name);
  return (
    <Stack gap="md" data-testid="operation-live" data-state={operation.state}>
      <OperationAnnouncer operation={operation} />
      <Group justify="space-between">
        <Group gap="md">
          <OperationStatus state={operation.state} />
          {!settled && operation.eta_seconds !== null && operation.eta_seconds !== undefined && (
            <span className="ps-muted ps-tnum">
              {say.aboutLeft(<Quantity of="span" value={operation.eta_seconds} />)}
            </span>
          )}
          {!settled && <span className="ps-muted">{live ? say.live : say.refreshingEvery15s}</span>}
        </Group>
        <Group gap={8}>
          {canWrite && operation.pausable && <PauseButton operation={operation} />}
          {canWrite && operation.cancellable && !settled && (
            <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(id)}>
              {say.cancelOperation}
            </Button>
          )}
          {canWrite && settled && (
            <UndoButton operation={operation} offered={operation.revertible && !operation.reverted_by} />
          )}
          {!standalone && (
            <Link
              to="/operations/$operationId"
              params={{ operationId: id }}
              className="ps-link"
              style={{ fontSize: "0.8125rem" }}
            >
              {say.openOperation}
            </Link>
          )}
        </Group>
      </Group>
      {!settled && operation.progress && (
        <Progress value={percentDone(operation)} size="sm" aria-label={say.operationProgress} />
      )}
      {cancel.isError && <ProblemPanel error={cancel.error} />}
      <OperationOutcome operation={operation} />
      <OperationSteps operation={operation} />
      <RollProgress operation={operation} />
      {operation.state === "succeeded" && operation.has_secret && canWrite && (
        <OneTimeSecret operationId={operation.id} />
      )}
      {operation.state === "succeeded" && operation.outcome?.next_plan && (
        <NextPlanButton
          next={operation.outcome.next_plan}
          clusterId={operation.cluster_id}
          say={scaling.nextPlan.next}
        />
      )}
      {operation.state === "succeeded" && done}
    </Stack>
  );
}

interface PlanDialogProps {
  opened: boolean;
  onClose: () => void;
  title: string;
  plan: Plan | undefined;
  error?: unknown;
  /** What a refused plan was about: a refusal may offer the plan that takes away what is in the way. */
  clusterId?: string;
  onReplan: () => void;
  onStarted?: () => void;
  leave?: Leave;
  done?: React.ReactNode;
}

/** Where a page leads once what it is about is gone. */
export interface Leave {
  /** What the button says: "Back to topics". */
  label: string;
  go: () => void;
}

/** A plan in a dialog: its effect, its confirmation, then the operation live until it is verified. */
export function PlanDialog(props: PlanDialogProps) {
  const { opened, onClose, title, plan, error, clusterId, onReplan, onStarted, leave, done } = props;
  const [started, setStarted] = useState<{ planId: string; operationId: string } | null>(null);
  const operationId = started && started.planId === plan?.id ? started.operationId : null;
  const [state, setState] = useState<OperationState | null>(null);
  // Undone in this very dialog it is there again, and so is its page.
  const isGone = leave !== undefined && operationId !== null && state === "succeeded";
  const close = () => {
    setStarted(null);
    setState(null);
    onClose();
    if (isGone) leave.go();
  };
  let body = (
    <div tabIndex={-1} data-autofocus style={{ outline: "none" }}>
      <Lines rows={5} />
    </div>
  );
  if (operationId) {
    const back = leave && <Button onClick={close}>{leave.label}</Button>;
    body = <OperationLive id={operationId} done={done ?? back} onState={setState} />;
  } else if (error) {
    const next = toProblem(error).next_plan;
    body = (
      <Stack gap="md">
        <ProblemPanel error={error} onRetry={onReplan} />
        <InTheWay error={error} />
        {next && <NextPlanButton next={next} clusterId={clusterId} say={scaling.nextPlan.first} />}
      </Stack>
    );
  } else if (plan) {
    body = (
      <PlanReview
        key={plan.id}
        plan={plan}
        takesFocus
        onReplan={onReplan}
        onCancel={close}
        onStarted={(operation) => {
          setStarted({ planId: plan.id, operationId: operation.id });
          onStarted?.();
        }}
      />
    );
  }
  return (
    <Dialog opened={opened} onClose={close} title={title} size="xl">
      {body}
    </Dialog>
  );
}

/** Plans the reverse of a finished operation and shows it for confirmation. Once that has begun it is not `offered`
 * any more, and the dialog stays until its end was seen. */
function UndoButton({ operation, offered }: { operation: Operation; offered: boolean }) {
  const [opened, setOpened] = useState(false);
  const undo = useUndoPlan();
  const open = () => {
    setOpened(true);
    undo.mutate(operation.id);
  };
  return (
    <>
      {offered && (
        <Button variant="default" leftSection={<IconArrowBackUp size={15} />} onClick={open}>
          {say.undo}
        </Button>
      )}
      <PlanDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={say.undo2(kindWithin(operation.kind))}
        plan={undo.data}
        error={undo.error}
        onReplan={() => undo.mutate(operation.id)}
      />
    </>
  );
}

interface NextPlanProps {
  next: NextPlan;
  clusterId: string | null | undefined;
  /** What the button says of the kind. */
  say: (kind: string) => string;
}

/** The plan that is offered next, made when it is asked for, to those who may confirm it. */
function NextPlanButton({ next, clusterId, say: label }: NextPlanProps) {
  const [opened, setOpened] = useState(false);
  const plan = useMakePlan();
  const may = useMayWrite();
  if (!clusterId || !isKind(next.kind) || !may("cluster", clusterId)) return null;
  // The service has written the inputs, and checks them like anybody's.
  const request = { kind: next.kind, cluster_id: clusterId, inputs: next.inputs } as PlanRequest;
  const open = () => {
    setOpened(true);
    plan.mutate(request);
  };
  return (
    <Group>
      <Button variant="default" onClick={open}>
        {label(kindWithin(next.kind))}
      </Button>
      <PlanDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={kindLabel(next.kind)}
        plan={plan.data}
        error={plan.error}
        clusterId={clusterId}
        onReplan={() => plan.mutate(request)}
      />
    </Group>
  );
}
