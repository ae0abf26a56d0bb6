import { Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { ButtonLink } from "@/components/button-link";
import { Card } from "@/components/card";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { usePlanWizard } from "@/components/plan-wizard";
import { useDraft } from "@/lib/draft";
import { NO_SECRETS, NO_WAY_IN, type WayIn, type WayInSecrets, wayInInputs, wrongInWayIn } from "./way-in";
import { WayInFields } from "./way-in-fields";
import { WayInWizard } from "./way-in-wizard";

type Values = WayIn & WayInSecrets & { name: string };

const DRAFT = "register-cluster";
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

export function RegisterPage() {
  return (
    <NeedsRole over="cluster" what="Registering clusters" title="Register a Kafka">
      <Register />
    </NeedsRole>
  );
}

function Register() {
  const wizard = usePlanWizard();
  const [kept, keep] = useDraft<WayIn & { name: string }>(DRAFT, { ...NO_WAY_IN, name: "" });
  const form = useForm<Values>({
    initialValues: { ...kept, ...NO_SECRETS },
    onValuesChange: (values) => keep({ ...values, ...NO_SECRETS }),
    validate: (values) => ({
      ...(!NAME.test(values.name) && { name: "Lower-case letters, digits and dashes, starting with a letter" }),
      ...wrongInWayIn(values),
    }),
  });
  return (
    <>
      <PageHeader
        title="Register a Kafka"
        sub="A cluster that runs elsewhere is governed from here, not run from here."
      />
      <WayInWizard
        wizard={wizard}
        form={form}
        draft={DRAFT}
        request={(values) => ({
          kind: "cluster.register",
          cluster_id: null,
          inputs: { name: values.name, ...wayInInputs(values) },
        })}
        cancel={
          <ButtonLink variant="default" to="/">
            Cancel
          </ButtonLink>
        }
        aside={
          <Card title="What happens" padded>
            <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
              <div>
                Each address is tried first: its name, the connection, TLS, whether a Kafka answers, the login. That
                takes seconds and changes nothing there.
              </div>
              <div>The plan then says what Penstock will write to the cluster and what this login cannot do.</div>
              <div>Passwords, keys and secrets are kept encrypted and never shown again.</div>
            </Stack>
          </Card>
        }
        done={
          <Notice tone="ok" title="The cluster is registered" action={<ButtonLink to="/">Go to clusters</ButtonLink>}>
            It answers, and its topics can be read.
          </Notice>
        }
      >
        <TextInput label="Name" placeholder="orders-prod" autoComplete="off" {...form.getInputProps("name")} />
        <WayInFields form={form} />
      </WayInWizard>
    </>
  );
}
