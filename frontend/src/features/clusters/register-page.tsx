import { Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { ButtonLink } from "@/components/button-link";
import { Card } from "@/components/card";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { usePlanWizard } from "@/components/plan-wizard";
import { useDraft } from "@/lib/draft";
import { words } from "@/words/clusters";
import { NO_SECRETS, NO_WAY_IN, type WayIn, type WayInSecrets, wayInInputs, wrongInWayIn } from "./way-in";
import { WayInFields } from "./way-in-fields";
import { WayInWizard } from "./way-in-wizard";

const say = words.registerPage;

type Values = WayIn & WayInSecrets & { name: string };

const DRAFT = "register-cluster";
const NAME = /^[a-z][a-z0-9-]{0,62}$/;

export function RegisterPage() {
  return (
    <NeedsRole over="cluster" what={say.registeringClusters} title={say.registerAKafka}>
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
      ...(!NAME.test(values.name) && { name: say.lowerCaseLettersDigitsAnd }),
      ...wrongInWayIn(values),
    }),
  });
  return (
    <>
      <PageHeader title={say.registerAKafka} sub={say.aClusterThatRunsElsewhere} />
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
            {say.cancel}
          </ButtonLink>
        }
        aside={
          <Card title={say.whatHappens} padded>
            <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
              <div>{say.eachAddressIsTriedFirst}</div>
              <div>{say.thePlanThenSaysWhat}</div>
              <div>{say.passwordsKeysAndSecretsAre}</div>
            </Stack>
          </Card>
        }
        done={
          <Notice
            tone="ok"
            title={say.theClusterIsRegistered}
            action={<ButtonLink to="/">{say.goToClusters}</ButtonLink>}
          >
            {say.itAnswersAndItsTopics}
          </Notice>
        }
      >
        <TextInput label={say.name} placeholder={say.ordersProd} autoComplete="off" {...form.getInputProps("name")} />
        <WayInFields form={form} />
      </WayInWizard>
    </>
  );
}
