import { Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { Empty } from "@/components/empty";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { usePlanWizard } from "@/components/plan-wizard";
import { Refused } from "@/components/refused";
import { useDraft } from "@/lib/draft";
import { usePage } from "@/lib/page";
import { isRefusal } from "@/lib/problem";
import type { Cluster } from "@/lib/types";
import {
  type Mechanism,
  NO_SECRETS,
  NO_WAY_IN,
  type Protocol,
  type WayIn,
  type WayInSecrets,
  wayInInputs,
  wrongInWayIn,
} from "./way-in";
import { WayInFields } from "./way-in-fields";
import { WayInWizard } from "./way-in-wizard";

const route = getRouteApi("/app/clusters/$clusterId/credentials");

export function CredentialsPage() {
  const { clusterId } = route.useParams();
  const query = usePage("cluster/{cluster_id}", { cluster_id: clusterId });
  const cluster = query.data?.parts.cluster.data;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader title="Change the way in" sub={cluster && `Of the registered cluster ${cluster.name}`} />
      <PartView query={query} name="cluster">
        {(found) =>
          found.kind === "registered" ? (
            <NeedsRole over="cluster" clusterId={clusterId} what="Changing the way in">
              <CredentialsForm key={found.id} cluster={found} />
            </NeedsRole>
          ) : (
            <Card padded>
              <Empty title="Penstock keeps this cluster's credentials itself">
                Only clusters that run elsewhere have credentials to change here.
              </Empty>
            </Card>
          )
        }
      </PartView>
    </>
  );
}

function CredentialsForm({ cluster }: { cluster: Cluster }) {
  const wizard = usePlanWizard();
  const draft = `credentials/${cluster.id}`;
  const [kept, keep] = useDraft<WayIn>(draft, {
    ...NO_WAY_IN,
    bootstrap_servers: cluster.bootstrap_servers,
    security_protocol: cluster.security_protocol as Protocol,
    sasl_mechanism: (cluster.sasl_mechanism ?? NO_WAY_IN.sasl_mechanism) as Mechanism,
  });
  const form = useForm<WayIn & WayInSecrets>({
    initialValues: { ...kept, ...NO_SECRETS },
    onValuesChange: (values) => keep({ ...values, ...NO_SECRETS }),
    validate: wrongInWayIn,
  });
  const back = { to: "/clusters/$clusterId", params: { clusterId: cluster.id } } as const;
  return (
    <WayInWizard
      wizard={wizard}
      form={form}
      draft={draft}
      request={(values) => ({ kind: "cluster.credentials", cluster_id: cluster.id, inputs: wayInInputs(values) })}
      cancel={
        <ButtonLink variant="default" {...back}>
          Cancel
        </ButtonLink>
      }
      aside={
        <Card title="What happens" padded>
          <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
            <div>
              The new way in is tried first and has to lead to the same Kafka. Until it is kept, the earlier one stays.
            </div>
            <div>All of it is given again: what is kept now is not shown and not taken over.</div>
            <div>The earlier credentials are forgotten then; revoke them at the Kafka itself.</div>
          </Stack>
        </Card>
      }
      done={
        <Notice tone="ok" title="The new way in is kept" action={<ButtonLink {...back}>Open cluster</ButtonLink>}>
          It was tried, and topics were read by it.
        </Notice>
      }
    >
      <WayInFields form={form} />
    </WayInWizard>
  );
}
