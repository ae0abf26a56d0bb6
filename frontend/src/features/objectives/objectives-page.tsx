import { Button, Select } from "@mantine/core";
import { IconTargetArrow } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "@/components/card";
import { InsightCard } from "@/components/insight-card";
import { ListView } from "@/components/list-view";
import { ObjectiveForm } from "@/components/objective-form";
import { ObjectiveTable } from "@/components/objective-table";
import { PageHeader } from "@/components/page-header";
import { useObjectives } from "@/lib/insights";
import { type LagObjective, useLagObjectives } from "@/lib/objectives";
import { useSession } from "@/lib/session";
import { useOverview } from "@/lib/use-clusters";
import { DeleteObjective } from "./delete-objective";
import { SetTable } from "./set-table";

const route = getRouteApi("/app/objectives");
const ADDRESS = "/api/v1/clusters/{cluster_id}/analytics/lag-objectives";

type Form = { kind: "new" } | { kind: "change" | "delete"; objective: LagObjective } | null;

/** What the tenant calls late, and which groups use up the time that they may be late. */
export function ObjectivesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const clusterId = clusters.find((cluster) => cluster.id === search.cluster)?.id ?? clusters[0]?.id;
  const objectives = useLagObjectives();
  const kept = useObjectives(clusterId);
  const [form, setForm] = useState<Form>(null);
  const close = () => setForm(null);
  const canWrite = session?.can_write === true;
  return (
    <>
      <PageHeader
        title="Lag objectives"
        sub="How late consumer groups may be, and how fast they use up the time for which they may. Where nothing is set: at most 1m for 99 % of the time."
        actions={
          canWrite && (
            <Button leftSection={<IconTargetArrow size={15} />} onClick={() => setForm({ kind: "new" })}>
              Set an objective
            </Button>
          )
        }
      />
      <div className="ps-stack">
        {clusterId !== undefined && (
          <InsightCard
            title="How they are kept"
            query={kept}
            file={{ address: ADDRESS, blanks: { cluster_id: clusterId } }}
            aside={
              <Select
                size="xs"
                w={180}
                aria-label="Cluster of the groups"
                allowDeselect={false}
                data={clusters.map((cluster) => ({ value: cluster.id, label: cluster.name }))}
                value={clusterId}
                onChange={(value) => void navigate({ search: { cluster: value ?? undefined }, replace: true })}
              />
            }
            empty="It needs windows in which a group's time lag is known."
          >
            {(rows) => <ObjectiveTable rows={rows} clusterId={clusterId} />}
          </InsightCard>
        )}
        <Card title="Set by this tenant">
          <ListView query={objectives}>
            {(rows) => (
              <SetTable
                rows={rows}
                clusters={new Map(clusters.map((cluster) => [cluster.id, cluster.name]))}
                onChange={canWrite ? (objective) => setForm({ kind: "change", objective }) : undefined}
                onDelete={canWrite ? (objective) => setForm({ kind: "delete", objective }) : undefined}
              />
            )}
          </ListView>
        </Card>
      </div>
      {form?.kind === "new" && <ObjectiveForm start={{ cluster_id: null }} onClose={close} />}
      {form?.kind === "change" && <ObjectiveForm objective={form.objective} onClose={close} />}
      {form?.kind === "delete" && <DeleteObjective objective={form.objective} onClose={close} />}
    </>
  );
}
