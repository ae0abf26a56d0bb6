import { useEffect } from "react";
import { useMakePlan } from "@/lib/plans";
import type { PlanRequest } from "@/lib/types";
import { PlanDialog } from "./operation-live";

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
