import { Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { useMakePlan } from "@/lib/plans";
import type { Plan, PlanRequest } from "@/lib/types";
import { Lines } from "./card";
import { OperationLive } from "./operation-live";
import { PlanReview } from "./plan-review";
import { ProblemPanel } from "./problem-panel";

interface PlanDialogProps {
  opened: boolean;
  onClose: () => void;
  title: string;
  plan: Plan | undefined;
  error?: unknown;
  onReplan: () => void;
  onStarted?: () => void;
  done?: React.ReactNode;
}

/** A plan in a dialog: its effect, its confirmation, then the operation live until it is verified. */
export function PlanDialog({ opened, onClose, title, plan, error, onReplan, onStarted, done }: PlanDialogProps) {
  const [started, setStarted] = useState<{ planId: string; operationId: string } | null>(null);
  const operationId = started && started.planId === plan?.id ? started.operationId : null;
  const close = () => {
    setStarted(null);
    onClose();
  };
  let body = (
    <div tabIndex={-1} data-autofocus style={{ outline: "none" }}>
      <Lines rows={5} />
    </div>
  );
  if (operationId) body = <OperationLive id={operationId} done={done} />;
  else if (error) body = <ProblemPanel error={error} onRetry={onReplan} />;
  else if (plan) {
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
    <Modal opened={opened} onClose={close} title={<strong>{title}</strong>} size="xl">
      {body}
    </Modal>
  );
}

interface PlanFlowProps {
  /** null keeps the dialog closed; a new request is planned at once. */
  request: PlanRequest | null;
  title: string;
  onClose: () => void;
  /** The plan was confirmed: what the form holds is not needed any more. */
  onStarted?: () => void;
  done?: React.ReactNode;
}

/** Plan dialog that makes its own plan from inputs. */
export function PlanFlow({ request, title, onClose, onStarted, done }: PlanFlowProps) {
  const plan = useMakePlan();
  const { mutate, reset } = plan;
  const key = request ? JSON.stringify(request) : null;
  useEffect(() => {
    reset();
    if (key) mutate(JSON.parse(key) as PlanRequest);
  }, [key, mutate, reset]);
  return (
    <PlanDialog
      opened={request !== null}
      onClose={onClose}
      title={title}
      plan={plan.data}
      error={plan.error}
      onReplan={() => request && mutate(request)}
      onStarted={onStarted}
      done={done}
    />
  );
}
