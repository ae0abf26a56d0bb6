import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Card, PartView } from "@/components/card";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { Refused } from "@/components/refused";
import { Status } from "@/components/status";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/drift";
import { DifferenceTable } from "./difference-table";
import { DriftAges } from "./drift-ages";

const say = words.page;

const route = getRouteApi("/app/clusters/$clusterId/drift");

export function DriftPage() {
  const { clusterId } = route.useParams();
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const query = usePage("drift/{cluster_id}", { cluster_id: clusterId });
  const [request, setRequest] = useState<PlanRequest | null>(null);
  if (isRefusal(query)) return <Refused error={query.error} />;
  const drift = query.data?.parts.drift.data;
  const found = drift ? drift.data.length + drift.left_out : 0;
  return (
    <>
      <PageHeader
        title={say.title}
        sub={say.sub}
        seen={query.data?.parts.drift}
        mark={found > 0 && <Status tone="warn" label={say.marked(found)} hint={say.notAsLeft} />}
      />
      <div className="ps-stack">
        <Card>
          <PartView query={query} name="drift">
            {(shown) => (
              <DifferenceTable
                clusterId={clusterId}
                drift={shown}
                onPlan={setRequest}
                view={view}
                onView={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
              />
            )}
          </PartView>
        </Card>
        {drift && (
          <Card title={say.compared} padded>
            <DriftAges areas={drift.areas} />
          </Card>
        )}
      </div>
      <PlanFlow request={request} title={request ? kindLabel(request.kind) : ""} onClose={() => setRequest(null)} />
    </>
  );
}
