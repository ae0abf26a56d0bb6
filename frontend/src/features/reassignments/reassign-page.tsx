import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { Notice } from "@/components/notice";
import { OperationLive } from "@/components/operation-live";
import { PageHeader } from "@/components/page-header";
import { PlanReview } from "@/components/plan-review";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { Wizard } from "@/components/wizard";
import { clearDrafts } from "@/lib/draft";
import { usePage } from "@/lib/page";
import { useMakePlan } from "@/lib/plans";
import { isRefusal } from "@/lib/problem";
import type { PlanInputs } from "@/lib/types";
import { ActiveMoves } from "./active-moves";
import { BrokerLoads } from "./broker-loads";
import { MoveForm } from "./move-form";

const route = getRouteApi("/app/clusters/$clusterId/reassign");

const STEPS: [string, string][] = [
  ["Choose", "what moves, and where"],
  ["Plan", "before, after, bytes"],
  ["Done and verified", "live steps"],
];

export function ReassignPage() {
  const { clusterId } = route.useParams();
  const { topic } = route.useSearch();
  const query = usePage("reassign/{cluster_id}", { cluster_id: clusterId });
  const [inputs, setInputs] = useState<PlanInputs<"reassignment"> | null>(null);
  const [operationId, setOperationId] = useState<string | null>(null);
  const plan = useMakePlan();
  const make = (next: PlanInputs<"reassignment">) => {
    setInputs(next);
    plan.mutate({ kind: "reassignment", cluster_id: clusterId, inputs: next });
  };
  const draft = `reassign/${clusterId}/${topic ?? ""}`;
  const active = operationId ? 2 : plan.data ? 1 : 0;
  const restart = () => {
    setOperationId(null);
    plan.reset();
  };
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title="Move partitions"
        sub="Copies are built on the target brokers first; the old ones go only when the new ones are in sync. Clients keep reading and writing."
      />
      <Wizard active={active} steps={STEPS} onStep={operationId ? undefined : (step) => step === 0 && plan.reset()}>
        <div className="ps-stack">
          {active === 0 && (
            <>
              <ActiveMoves rows={query.data?.parts.reassignments.data ?? []} />
              <div className="ps-cols-2-1">
                <Card padded>
                  <PartView query={query} name="cluster">
                    {(cluster) => (
                      <PartView query={query} name="topics">
                        {(topics) => (
                          <>
                            <MoveForm
                              key={draft}
                              cluster={cluster}
                              topics={topics}
                              draft={draft}
                              preset={topic}
                              busy={plan.isPending}
                              onPlan={make}
                            />
                            {plan.isError && (
                              <div style={{ marginTop: 12 }}>
                                <ProblemPanel error={plan.error} />
                              </div>
                            )}
                          </>
                        )}
                      </PartView>
                    )}
                  </PartView>
                </Card>
                <Card title="Brokers now">
                  <PartView query={query} name="loads">
                    {(loads) => <BrokerLoads loads={loads} />}
                  </PartView>
                </Card>
              </div>
            </>
          )}
          {active === 1 && plan.data && (
            <Card padded>
              <PlanReview
                key={plan.data.id}
                plan={plan.data}
                onReplan={() => inputs && make(inputs)}
                onCancel={() => plan.reset()}
                cancelLabel="Back"
                onStarted={(operation) => {
                  setOperationId(operation.id);
                  clearDrafts(draft);
                }}
              />
            </Card>
          )}
          {operationId && (
            <Card padded>
              <OperationLive
                id={operationId}
                done={
                  <Notice
                    tone="ok"
                    title="The partitions are where the plan said, and in sync"
                    action={
                      <>
                        <ButtonLink
                          variant="default"
                          to="/clusters/$clusterId/reassign"
                          params={{ clusterId }}
                          onClick={restart}
                        >
                          Move more
                        </ButtonLink>
                        <ButtonLink to="/clusters/$clusterId" params={{ clusterId }}>
                          Open cluster
                        </ButtonLink>
                      </>
                    }
                  />
                }
              />
            </Card>
          )}
        </div>
      </Wizard>
    </>
  );
}
