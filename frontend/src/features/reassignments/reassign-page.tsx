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
import { ActiveMoves } from "./active-moves";
import { BrokerLoads } from "./broker-loads";
import { MoveForm } from "./move-form";

const route = getRouteApi("/app/clusters/$clusterId/reassign");

const STEPS: WizardStep[] = [
  ["Choose", "what moves, and where"],
  ["Plan", "before, after, bytes"],
  ["Done and verified", "live steps"],
];

export function ReassignPage() {
  const { clusterId } = route.useParams();
  const { topic } = route.useSearch();
  const query = usePage("reassign/{cluster_id}", { cluster_id: clusterId });
  const wizard = usePlanWizard();
  const ask = (inputs: PlanInputs<"reassignment">) =>
    wizard.ask({ kind: "reassignment", cluster_id: clusterId, inputs });
  const draft = `reassign/${clusterId}/${topic ?? ""}`;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title="Reassign partitions"
        sub="Copies are built on the target brokers first; the old ones go only when the new ones are in sync. Clients keep reading and writing."
      />
      <PlanWizard
        wizard={wizard}
        steps={STEPS}
        draft={draft}
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
                  onClick={wizard.restart}
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
      >
        <ActiveMoves moves={query.data?.parts.reassignments.data} />
        <div className="ps-cols-2-1">
          <Card padded>
            <PartView query={query} name="cluster">
              {(cluster) => (
                <PartView query={query} name="counts">
                  {(counts) => (
                    <NeedsRole over="cluster" clusterId={clusterId} what="Moving partitions">
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
          <Card title="Brokers now">
            <PartView query={query} name="loads">
              {(loads) => <BrokerLoads clusterId={clusterId} loads={loads} />}
            </PartView>
          </Card>
        </div>
      </PlanWizard>
    </>
  );
}
