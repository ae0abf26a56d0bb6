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
import { words } from "@/words/clusters";
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

const say = words.credentialsPage;

const route = getRouteApi("/app/clusters/$clusterId/credentials");

export function CredentialsPage() {
  const { clusterId } = route.useParams();
  const query = usePage("cluster/{cluster_id}", { cluster_id: clusterId });
  const cluster = query.data?.parts.cluster.data;
  if (isRefusal(query)) return <Refused error={query.error} />;
  return (
    <>
      <PageHeader title={say.changeTheWayIn} sub={cluster && say.ofTheRegisteredCluster(cluster.name)} />
      <PartView query={query} name="cluster">
        {(found) =>
          found.kind === "registered" ? (
            <NeedsRole over="cluster" clusterId={clusterId} what={say.changingTheWayIn}>
              <CredentialsForm key={found.id} cluster={found} />
            </NeedsRole>
          ) : (
            <Card padded>
              <Empty title={say.penstockKeepsThisClusters}>{say.onlyClustersThatRunElsewhere}</Empty>
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
          {say.cancel}
        </ButtonLink>
      }
      aside={
        <Card title={say.whatHappens} padded>
          <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
            <div>{say.theNewWayInIs}</div>
            <div>{say.allOfItIsGiven}</div>
            <div>{say.theEarlierCredentialsAre}</div>
          </Stack>
        </Card>
      }
      done={
        <Notice tone="ok" title={say.theNewWayInIsKept} action={<ButtonLink {...back}>{say.openCluster}</ButtonLink>}>
          {say.itWasTriedAndTopics}
        </Notice>
      }
    >
      <WayInFields form={form} />
    </WayInWizard>
  );
}
