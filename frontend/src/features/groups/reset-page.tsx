import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { PlanProblem, PlanWizard, usePlanWizard } from "@/components/plan-wizard";
import { Refused } from "@/components/refused";
import type { WizardStep } from "@/components/wizard";
import { plural } from "@/lib/format";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import { GroupState } from "./group-state";
import { type ResetInputs, ResetForm } from "./reset-form";

const route = getRouteApi("/app/clusters/$clusterId/groups/$group/reset");

const STEPS: WizardStep[] = [
  ["Strategy", "where to read from"],
  ["Plan", "effect per partition"],
  ["Done and verified", "live steps"],
];

export function ResetPage() {
  const { clusterId, group: name } = route.useParams();
  const query = usePage("group/{cluster_id}/{group}", { cluster_id: clusterId, group: name });
  const wizard = usePlanWizard();
  const ask = (inputs: ResetInputs) =>
    wizard.ask({ kind: "offset.reset", cluster_id: clusterId, inputs: { group: name, ...inputs } });
  const draft = `reset/${clusterId}/${name}`;
  const members = query.data?.parts.group.data?.members.length ?? 0;
  const blocked =
    members > 0
      ? `Waits until ${members === 1 ? "the group's member has" : `all ${members} members have`} stopped.`
      : undefined;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader
        title="Reset offsets"
        sub={
          <>
            Of group <span className="ps-mono">{name}</span>
          </>
        }
      />
      <PlanWizard
        wizard={wizard}
        steps={STEPS}
        draft={draft}
        notice={
          wizard.active < 2 &&
          members > 0 && (
            <Notice
              tone="warn"
              title={`${plural(members, "member")} of this group ${members === 1 ? "is" : "are"} active`}
            >
              Offsets can be set only while nobody consumes. Stop the members; this page notices it by itself.
            </Notice>
          )
        }
        done={
          <Notice
            tone="ok"
            title="The new offsets were committed and read back"
            action={
              <ButtonLink to="/clusters/$clusterId/groups/$group" params={{ clusterId, group: name }}>
                Open group
              </ButtonLink>
            }
          >
            The offsets from before are kept. Undo puts them back while the group is empty.
          </Notice>
        }
      >
        <div className="ps-cols-2-1">
          <Card padded>
            <PartView query={query} name="group">
              {(group) => (
                <>
                  <ResetForm group={group} draft={draft} busy={wizard.plan.isPending} blocked={blocked} onPlan={ask} />
                  <PlanProblem wizard={wizard} />
                </>
              )}
            </PartView>
          </Card>
          <Card title="Where the group stands">
            <PartView query={query} name="group">
              {(group) => <GroupState group={group} />}
            </PartView>
          </Card>
        </div>
      </PlanWizard>
    </>
  );
}
