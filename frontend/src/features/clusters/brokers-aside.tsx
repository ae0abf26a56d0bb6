import { Button, Group } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { PlanFlow } from "@/components/plan-flow";
import { kindLabel } from "@/lib/kinds";
import { useMayWrite } from "@/lib/permissions";
import type { Cluster } from "@/lib/types";
import { words } from "@/words/clusters";
import { AddBrokers } from "./scale-brokers";

const say = words.clusterPage;

/** What is done to all brokers of a cluster. */
export function BrokersAside({ cluster }: { cluster: Cluster }) {
  return (
    <Group gap={8}>
      <AddBrokers cluster={cluster} />
      <RestartAll cluster={cluster} />
    </Group>
  );
}

/** Only what this service runs can be restarted by it. */
function RestartAll({ cluster }: { cluster: Cluster }) {
  const canWrite = useMayWrite()("cluster", cluster.id);
  const [isAsked, setAsked] = useState(false);
  if (cluster.kind !== "managed" || !canWrite) return null;
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconRefresh size={15} />} onClick={() => setAsked(true)}>
        {say.restartAll}
      </Button>
      <PlanFlow
        request={isAsked ? { kind: "cluster.restart", cluster_id: cluster.id, inputs: {} } : null}
        title={`${kindLabel("cluster.restart")}: ${cluster.name}`}
        onClose={() => setAsked(false)}
      />
    </>
  );
}
