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
import { plural } from "@/lib/format";
import { usePage } from "@/lib/page";
import { useMakePlan } from "@/lib/plans";
import { isRefusal } from "@/lib/problem";
import { GroupState } from "./group-state";
import { type ResetInputs, ResetForm } from "./reset-form";

const route = getRouteApi("/app/clusters/$clusterId/groups/$group/reset");

const STEPS: [string, string][] = [
  ["Strategy", "where to read from"],
  ["Plan", "effect per partition"],
  ["Done and verified", "live steps"],
];

export function ResetPage() {
  const { clusterId, group: name } = route.useParams();
  const query = usePage("group/{cluster_id}/{group}", { cluster_id: clusterId, group: name });
  const [inputs, setInputs] = useState<ResetInputs | null>(null);
  const [operationId, setOperationId] = useState<string | null>(null);
  const plan = useMakePlan();
  const make = (next: ResetInputs) => {
    setInputs(next);
    plan.mutate({ kind: "offset.reset", cluster_id: clusterId, inputs: { group: name, ...next } });
  };
  const draft = `reset/${clusterId}/${name}`;
  const back = () => plan.reset();
  const active = operationId ? 2 : plan.data ? 1 : 0;
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
      <Wizard active={active} steps={STEPS} onStep={operationId ? undefined : (step) => step === 0 && back()}>
        <div className="ps-stack">
          {active < 2 && members > 0 && (
            <Notice
              tone="warn"
              title={`${plural(members, "member")} of this group ${members === 1 ? "is" : "are"} active`}
            >
              Offsets can be set only while nobody consumes. Stop the members; this page notices it by itself.
            </Notice>
          )}
          {active === 0 && (
            <div className="ps-cols-2-1">
              <Card padded>
                <PartView query={query} name="group">
                  {(group) => (
                    <>
                      <ResetForm group={group} draft={draft} busy={plan.isPending} blocked={blocked} onPlan={make} />
                      {plan.isError && (
                        <div style={{ marginTop: 12 }}>
                          <ProblemPanel error={plan.error} />
                        </div>
                      )}
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
          )}
          {active === 1 && plan.data && (
            <Card padded>
              <PlanReview
                key={plan.data.id}
                plan={plan.data}
                onReplan={() => inputs && make(inputs)}
                onCancel={back}
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
              />
            </Card>
          )}
        </div>
      </Wizard>
    </>
  );
}
