import { type ReactNode, useState } from "react";
import { clearDrafts } from "@/lib/draft";
import { useMakePlan } from "@/lib/plans";
import type { PlanRequest } from "@/lib/types";
import { Card } from "./card";
import { OperationLive } from "./operation-live";
import { words } from "@/words/plans";
import { PlanReview } from "./plan-review";
import { ProblemPanel } from "./problem-panel";
import { Wizard, type WizardStep } from "./wizard";

/** The way of one wizard: what was asked for, its plan, the operation that came of it. */
export function usePlanWizard() {
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const [operationId, setOperationId] = useState<string | null>(null);
  const plan = useMakePlan();
  const back = () => plan.reset();
  return {
    plan,
    operationId,
    /** 0 while choosing, 1 with a plan, 2 with its operation. */
    active: operationId ? 2 : plan.data ? 1 : 0,
    ask: (next: PlanRequest) => {
      setRequest(next);
      plan.mutate(next);
    },
    askAgain: () => request && plan.mutate(request),
    back,
    restart: () => {
      setOperationId(null);
      back();
    },
    start: setOperationId,
  };
}

interface PlanWizardProps {
  wizard: ReturnType<typeof usePlanWizard>;
  steps: WizardStep[];
  /** What the form holds is kept under this until its plan is started. */
  draft: string;
  /** Above every step. */
  notice?: ReactNode;
  done: ReactNode;
  /** The first step: the form, and what helps to fill it in. */
  children: ReactNode;
}

/** Choose, review the plan, watch the operation: each on the place of the one before. */
export function PlanWizard({ wizard, steps, draft, notice, done, children }: PlanWizardProps) {
  const { active, plan, operationId, back } = wizard;
  return (
    <Wizard active={active} steps={steps} onStep={operationId ? undefined : (step) => step === 0 && back()}>
      <div className="ps-stack">
        {notice}
        {active === 0 && children}
        {active === 1 && plan.data && (
          <Card padded>
            <PlanReview
              key={plan.data.id}
              plan={plan.data}
              onReplan={wizard.askAgain}
              onCancel={back}
              cancelLabel={words.planReview.back}
              onStarted={(operation) => {
                wizard.start(operation.id);
                clearDrafts(draft);
              }}
            />
          </Card>
        )}
        {operationId && (
          <Card padded>
            <OperationLive id={operationId} done={done} />
          </Card>
        )}
      </div>
    </Wizard>
  );
}

/** Why no plan could be made, below the form that asked for it. */
export function PlanProblem({ wizard }: Pick<PlanWizardProps, "wizard">) {
  const { plan } = wizard;
  if (!plan.isError) return null;
  return (
    <div style={{ marginTop: 12 }}>
      <ProblemPanel error={plan.error} />
    </div>
  );
}
