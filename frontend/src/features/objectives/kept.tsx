import { Select } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import { Card, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import { InsightCard } from "@/components/insight-card";
import { ObjectiveTable } from "@/components/objective-table";
import { useObjectives } from "@/lib/insights";
import { useOverview } from "@/lib/use-clusters";
import { words } from "@/words/objectives";

const say = words.kept;

const TITLE = say.howTheyAreKept;
const ADDRESS = "/api/v1/clusters/{cluster_id}/analytics/lag-objectives";

interface KeptProps {
  /** The cluster that the address names; without one the first. */
  named: string | undefined;
  onCluster: (clusterId: string) => void;
}

/** How fast the groups of one cluster use up their budgets; until a cluster is known, why there is none. */
export function Kept({ named, onCluster }: KeptProps) {
  const overview = useOverview();
  const clusters = overview.data?.parts.clusters.data ?? [];
  const cluster = named === undefined ? clusters[0] : clusters.find(({ id }) => id === named);
  const kept = useObjectives(cluster?.id);
  const choice = clusters.length > 0 && (
    <Select
      size="xs"
      w={180}
      aria-label={say.clusterOfTheGroups}
      placeholder={say.chooseACluster}
      allowDeselect={false}
      data={clusters.map(({ id, name }) => ({ value: id, label: name }))}
      value={cluster?.id ?? null}
      onChange={(value) => value !== null && onCluster(value)}
    />
  );
  if (cluster === undefined) {
    return (
      <Card title={TITLE} aside={choice}>
        <PartView query={overview} name="clusters">
          {(found) =>
            found.length === 0 ? (
              <Empty icon={<IconServer2 size={20} />} title={say.thereIsNoClusterYet}>
                {say.groupsAreJudgedOnThe}
              </Empty>
            ) : (
              <Empty icon={<IconServer2 size={20} />} title={say.clusterNotFound}>
                {say.theAddressNamesWhichIs(named)}
              </Empty>
            )
          }
        </PartView>
      </Card>
    );
  }
  return (
    <InsightCard
      title={TITLE}
      query={kept}
      file={{ address: ADDRESS, blanks: { cluster_id: cluster.id } }}
      aside={choice}
      empty={say.itNeedsWindowsInWhich}
    >
      {(rows) => <ObjectiveTable rows={rows} clusterId={cluster.id} />}
    </InsightCard>
  );
}
