import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { PlanProblem, PlanWizard, usePlanWizard } from "@/components/plan-wizard";
import { Refused } from "@/components/refused";
import type { WizardStep } from "@/components/wizard";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import type { PlanInputs } from "@/lib/types";
import { words } from "@/words/reassignments";
import { ActiveMoves } from "./active-moves";
import { BrokerLoads } from "./broker-loads";
import { MoveForm } from "./move-form";

const say = words.reassignPage;

const route = getRouteApi("/app/clusters/$clusterId/reassign");

const STEPS: WizardStep[] = [
  [say.choose, say.whatMovesAndWhere],
  [say.plan, say.beforeAfterBytes],
  [say.doneAndVerified, say.liveSteps],
];

export function ReassignPage() {
  const { clusterId } = route.useParams();
  const { topic } = route.useSearch();
  const query = usePage("reassign/{cluster_id}", { cluster_id: clusterId });
  const wizard = usePlanWizard();
  const ask = (inputs: PlanInputs<"reassignment">) =>
    wizard.ask({ kind: "reassignment", cluster_id: clusterId, inputs });
  const draft = `reassign/${clusterId}/${topic ?? ""}`;
  const moving = query.data?.parts.reassignments.data?.total ?? 0;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader title={say.reassignPartitions} sub={say.copiesAreBuiltOnThe} />
      <PlanWizard
        wizard={wizard}
        steps={STEPS}
        draft={draft}
        done={
          <Notice
            tone="ok"
            title={say.thePartitionsAreWhereThe}
            action={
              <>
                <ButtonLink
                  variant="default"
                  to="/clusters/$clusterId/reassign"
                  params={{ clusterId }}
                  onClick={wizard.restart}
                >
                  {say.moveMore}
                </ButtonLink>
                <ButtonLink to="/clusters/$clusterId" params={{ clusterId }}>
                  {say.openCluster}
                </ButtonLink>
              </>
            }
          />
        }
      >
        {moving > 0 && (
          <Card title={words.activeMoves.onTheMoveNow(moving)}>
            <PartView query={query} name="reassignments">
              {(moves) => <ActiveMoves moves={moves} />}
            </PartView>
          </Card>
        )}
        <div className="ps-cols-2-1">
          <Card padded>
            <PartView query={query} name="cluster">
              {(cluster) => (
                <PartView query={query} name="counts">
                  {(counts) => (
                    <NeedsRole over="cluster" clusterId={clusterId} what={say.movingPartitions}>
                      <MoveForm
                        key={draft}
                        cluster={cluster}
                        mostReplicas={counts.replication_factor_max ?? 0}
                        draft={draft}
                        preset={topic}
                        busy={wizard.plan.isPending}
                        onPlan={ask}
                      />
                      <PlanProblem wizard={wizard} />
                    </NeedsRole>
                  )}
                </PartView>
              )}
            </PartView>
          </Card>
          <Card title={say.brokersNow}>
            <PartView query={query} name="loads">
              {(loads) => <BrokerLoads clusterId={clusterId} loads={loads} />}
            </PartView>
          </Card>
        </div>
      </PlanWizard>
    </>
  );
}
