import { Button } from "@mantine/core";
import { IconTargetArrow } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "@/components/card";
import { ListView } from "@/components/list-view";
import { ObjectiveForm } from "@/components/objective-form";
import { PageHeader } from "@/components/page-header";
import { DEFAULT_TARGET, TargetWords } from "@/components/quantity";
import { Refused } from "@/components/refused";
import { type LagObjective, useLagObjectives } from "@/lib/objectives";
import { isRefusal } from "@/lib/problem";
import { useSession } from "@/lib/session";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/objectives";
import { DeleteObjective } from "./delete-objective";
import { Kept } from "./kept";
import { SetTable } from "./set-table";

const say = words.objectivesPage;

const route = getRouteApi("/app/objectives");

type Form = { kind: "new" } | { kind: "change" | "delete"; objective: LagObjective } | null;

/** What the tenant calls late, and which groups use up the time that they may be late. */
export function ObjectivesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const clusters = useOverview().data?.parts.clusters.data ?? [];
  const objectives = useLagObjectives();
  const [form, setForm] = useState<Form>(null);
  const close = () => setForm(null);
  // They are of the whole tenant: who has grants over some clusters reads and sets none of them.
  const canWrite = session?.can_write_tenant === true;
  if (isRefusal(objectives)) return <Refused error={objectives.error} />;
  return (
    <>
      <PageHeader
        title={say.lagObjectives}
        sub={say.howLateConsumerGroupsMay(<TargetWords {...DEFAULT_TARGET} />)}
        actions={
          canWrite && (
            <Button leftSection={<IconTargetArrow size={15} />} onClick={() => setForm({ kind: "new" })}>
              {say.setAnObjective}
            </Button>
          )
        }
      />
      <div className="ps-stack">
        <Kept named={search.cluster} onCluster={(cluster) => void navigate({ search: { cluster }, replace: true })} />
        <Card title={say.setByThisTenant}>
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
