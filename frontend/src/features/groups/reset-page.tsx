import { Button } from "@mantine/core";
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
import { words } from "@/words/groups";
import { GroupState } from "./group-state";
import { HoldingMembers } from "./holding-members";
import { saveOffsets } from "./offset-csv";
import { ResetForm } from "./reset-form";
import type { ResetInputs } from "./reset-strategies";

const say = words.resetPage;

const route = getRouteApi("/app/clusters/$clusterId/groups/$group/reset");

const STEPS: WizardStep[] = [
  [say.strategy, say.whereToReadFrom],
  [say.plan, say.effectPerPartition],
  [say.doneAndVerified, say.liveSteps],
];

export function ResetPage() {
  const { clusterId, group: name } = route.useParams();
  const query = usePage("group/{cluster_id}/{group}", { cluster_id: clusterId, group: name });
  const wizard = usePlanWizard();
  const ask = (inputs: ResetInputs) =>
    wizard.ask({ kind: "offset.reset", cluster_id: clusterId, inputs: { group: name, ...inputs } });
  const draft = `reset/${clusterId}/${name}`;
  const members = query.data?.parts.group.data?.members.length ?? 0;
  const blocked = members > 0 ? say.waitsForMembers(members) : undefined;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader title={say.resetOffsets} sub={say.ofGroup(<span className="ps-mono">{name}</span>)} />
      <PlanWizard
        wizard={wizard}
        steps={STEPS}
        draft={draft}
        notice={
          wizard.active < 2 && members > 0 && <HoldingMembers members={query.data?.parts.group.data?.members ?? []} />
        }
        done={
          <Notice
            tone="ok"
            title={say.committedAndReadBack}
            action={
              <ButtonLink to="/clusters/$clusterId/groups/$group" params={{ clusterId, group: name }}>
                {say.openGroup}
              </ButtonLink>
            }
          >
            {say.offsetsFromBeforeAreKept}
          </Notice>
        }
      >
        <div className="ps-cols-2-1">
          <Card padded>
            <PartView query={query} name="group">
              {(group) => (
                <NeedsRole over="group" clusterId={clusterId} name={name} what={say.resettingOffsets}>
                  <ResetForm
                    clusterId={clusterId}
                    group={group}
                    draft={draft}
                    busy={wizard.plan.isPending}
                    blocked={blocked}
                    error={wizard.plan.error}
                    onPlan={ask}
                  />
                  <PlanProblem wizard={wizard} />
                </NeedsRole>
              )}
            </PartView>
          </Card>
          <Card title={say.whereTheGroupStands}>
            <PartView query={query} name="group">
              {(group) => (
                <>
                  <GroupState group={group} />
                  {group.offsets.some((row) => row.committed !== null) && (
                    <div className="ps-card-body">
                      <Button variant="default" size="xs" onClick={() => saveOffsets(group.group, group.offsets)}>
                        {say.saveAsAFile}
                      </Button>
                    </div>
                  )}
                </>
              )}
            </PartView>
          </Card>
        </div>
      </PlanWizard>
    </>
  );
}
