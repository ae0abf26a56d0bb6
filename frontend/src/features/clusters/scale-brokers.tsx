import { Button, Group, NumberInput, Stack } from "@mantine/core";
import { IconServer2 } from "@tabler/icons-react";
import { useState } from "react";
import { Dialog } from "@/components/dialog";
import { PlanFlow } from "@/components/plan-flow";
import { kindLabel } from "@/lib/kinds";
import { useMayWrite } from "@/lib/permissions";
import type { Cluster, PlanRequest } from "@/lib/types";
import { words } from "@/words/scaling";

const say = words.scaleBrokers;
const BROKERS_MAX = 30;

/** More brokers for a cluster that this service runs: how many is asked for, the plan says where. */
export function AddBrokers({ cluster }: { cluster: Cluster }) {
  const canWrite = useMayWrite()("cluster", cluster.id);
  const [isAsked, setAsked] = useState(false);
  const [count, setCount] = useState<number | string>(1);
  const [request, setRequest] = useState<PlanRequest | null>(null);
  if (cluster.kind !== "managed" || !canWrite) return null;
  const isUsable = typeof count === "number" && Number.isInteger(count) && count >= 1 && count <= BROKERS_MAX;
  const plan = () => {
    setAsked(false);
    setRequest({ kind: "cluster.add_brokers", cluster_id: cluster.id, inputs: { count: Number(count) } });
  };
  return (
    <>
      <Button variant="default" size="xs" leftSection={<IconServer2 size={15} />} onClick={() => setAsked(true)}>
        {say.addBrokers}
      </Button>
      <Dialog opened={isAsked} onClose={() => setAsked(false)} title={`${say.addBrokers}: ${cluster.name}`}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isUsable) plan();
          }}
        >
          <Stack gap="md">
            <NumberInput
              label={say.howMany}
              description={say.placesAreChosen}
              min={1}
              max={BROKERS_MAX}
              allowDecimal={false}
              value={count}
              onChange={setCount}
              data-autofocus
            />
            <Group justify="flex-end">
              <Button type="submit" disabled={!isUsable}>
                {say.showThePlan}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
      <PlanFlow
        request={request}
        title={`${kindLabel("cluster.add_brokers")}: ${cluster.name}`}
        onClose={() => setRequest(null)}
      />
    </>
  );
}

interface RemoveBrokerProps {
  cluster: Cluster;
  /** null keeps the dialog closed. */
  broker: number | null;
  onClose: () => void;
}

/** Planned at once; a broker that holds something is refused, with the plan that drains it. */
export function RemoveBroker({ cluster, broker, onClose }: RemoveBrokerProps) {
  return (
    <PlanFlow
      request={
        broker === null
          ? null
          : { kind: "cluster.remove_brokers", cluster_id: cluster.id, inputs: { brokers: [broker] } }
      }
      title={say.removeBroker2(broker ?? "")}
      onClose={onClose}
    />
  );
}
