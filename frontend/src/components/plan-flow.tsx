import { useEffect } from "react";
import { useMakePlan } from "@/lib/plans";
import { type FieldProblems, fieldProblems } from "@/lib/problem";
import type { PlanRequest } from "@/lib/types";
import { type Leave, PlanDialog } from "./operation-live";

interface PlanFlowProps {
  /** null keeps the dialog closed; a new request is planned at once. */
  request: PlanRequest | null;
  title: string;
  onClose: () => void;
  /** The plan was confirmed: what the form holds is not needed any more. */
  onStarted?: () => void;
  /** Where the page leads once the operation has made what it is about go, however the dialog is closed. */
  leave?: Leave;
  /** The plan was refused because of these fields: the form shows it at them, and the dialog closes. */
  onFields?: (problems: FieldProblems) => void;
  done?: React.ReactNode;
}

/** Plan dialog that makes its own plan from inputs. */
export function PlanFlow({ request, title, onClose, onStarted, leave, onFields, done }: PlanFlowProps) {
  const plan = useMakePlan();
  const { mutate, reset } = plan;
  const key = request ? JSON.stringify(request) : null;
  useEffect(() => {
    reset();
    if (key) mutate(JSON.parse(key) as PlanRequest);
  }, [key, mutate, reset]);
  const refused = fieldProblems(plan.error);
  const atFields = onFields !== undefined && request !== null && Object.keys(refused).length > 0;
  useEffect(() => {
    if (!atFields) return;
    onFields(fieldProblems(plan.error));
    reset();
    onClose();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each refusal, whatever the form draws meanwhile
  }, [atFields, plan.error]);
  return (
    <PlanDialog
      opened={request !== null}
      onClose={onClose}
      title={title}
      plan={plan.data}
      error={plan.error}
      clusterId={request?.cluster_id ?? undefined}
      onReplan={() => request && mutate(request)}
      onStarted={onStarted}
      leave={leave}
      done={done}
    />
  );
}
