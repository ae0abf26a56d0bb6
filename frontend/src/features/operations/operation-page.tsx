import { Link, useParams } from "@tanstack/react-router";
import { BlastRadius } from "@/components/blast-radius";
import { Card, PartView } from "@/components/card";
import { CodeBlock } from "@/components/copy";
import { CopyLimit } from "@/components/copy-limit";
import { MoveProgress } from "@/components/move-progress";
import { OperationLive } from "@/components/operation-live";
import { actorName, resourceName } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { PlanDiff } from "@/components/plan-diff";
import { Refused } from "@/components/refused";
import { Warnings } from "@/components/plan-review";
import { RelTime } from "@/components/rel-time";
import { UndoFacts } from "@/components/undo-facts";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import { useOperation } from "@/lib/plans";
import { isRefusal } from "@/lib/problem";
import { summaryText } from "@/lib/sentences";
import { useSession } from "@/lib/session";
import type { Operation } from "@/lib/types";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/operations";

const say = words.operationPage;

function Facts({ operation }: { operation: Operation }) {
  const cluster = useCluster(operation.cluster_id ?? undefined);
  return (
    <dl className="ps-kv">
      <dt>{say.startedBy}</dt>
      <dd>{actorName(operation.actor)}</dd>
      <dt>{say.reason}</dt>
      <dd>{operation.reason || <span className="ps-muted">{say.noneGiven}</span>}</dd>
      <dt>{say.started}</dt>
      <dd>
        <RelTime at={operation.created_at} />
      </dd>
      <dt>{say.finished}</dt>
      <dd>
        <RelTime at={operation.finished_at} fallback={say.notYet} />
      </dd>
      {operation.cluster_id && (
        <>
          <dt>{say.cluster}</dt>
          <dd>
            <Link to="/clusters/$clusterId" params={{ clusterId: operation.cluster_id }} className="ps-link">
              {cluster?.name ?? operation.cluster_id}
            </Link>
          </dd>
        </>
      )}
      {operation.reverts && (
        <>
          <dt>{say.undoes}</dt>
          <dd>
            <Link to="/operations/$operationId" params={{ operationId: operation.reverts }} className="ps-link ps-mono">
              {operation.reverts}
            </Link>
          </dd>
        </>
      )}
      {operation.reverted_by && (
        <>
          <dt>{say.undoneBy}</dt>
          <dd>
            <Link
              to="/operations/$operationId"
              params={{ operationId: operation.reverted_by }}
              className="ps-link ps-mono"
            >
              {operation.reverted_by}
            </Link>
          </dd>
        </>
      )}
      <dt>{say.operation}</dt>
      <dd className="ps-mono">{operation.id}</dd>
    </dl>
  );
}

export function OperationPage() {
  const { operationId } = useParams({ from: "/app/operations/$operationId" });
  const { data: operation } = useOperation(operationId);
  const { data: session } = useSession();
  const page = usePage("operation/{operation_id}", { operation_id: operationId }, false);
  if (isRefusal(page)) return <Refused error={page.error} />;
  return (
    <>
      <PageHeader
        title={operation ? `${kindLabel(operation.kind)}` : say.operation}
        mark={operation?.resource && <span className="ps-mono ps-muted">{resourceName(operation.resource)}</span>}
        sub={operation && summaryText(operation)}
      />
      <div className="ps-cols-2-1">
        <div className="ps-stack">
          <Card title={say.steps} padded>
            <OperationLive id={operationId} standalone />
          </Card>
          {operation?.kind === "reassignment" && (
            <MoveProgress operation={operation} canWrite={session?.can_write_tenant ?? false} />
          )}
          {operation && <CopyLimit operation={operation} canWrite={session?.can_write_tenant ?? false} />}
          <Card title={say.thePlanThatWasConfirmed} padded>
            <PartView query={page} name="plan" rows={4}>
              {(plan) => (
                <div className="ps-stack">
                  <Warnings warnings={plan.impact.warnings} />
                  <BlastRadius extents={plan.impact.blast_radius} />
                  <PlanDiff plan={plan} past />
                  <UndoFacts undo={plan.impact.undo} undone={operation?.state === "reverted"} />
                  <details>
                    <summary className="ps-muted" style={{ cursor: "pointer", fontSize: "0.8125rem" }}>
                      {say.inputsAsTheRestApi}
                    </summary>
                    <div style={{ marginTop: 8 }}>
                      <CodeBlock
                        label={say.planRequest}
                        text={JSON.stringify(
                          { kind: plan.kind, cluster_id: plan.cluster_id, inputs: plan.inputs },
                          null,
                          2,
                        )}
                      />
                    </div>
                  </details>
                </div>
              )}
            </PartView>
          </Card>
        </div>
        <Card title={say.facts} padded>
          {operation ? (
            <Facts operation={operation} />
          ) : (
            <PartView query={page} name="operation">
              {(found) => <Facts operation={found} />}
            </PartView>
          )}
        </Card>
      </div>
    </>
  );
}
