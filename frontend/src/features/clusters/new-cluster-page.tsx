import { Button, Group, NumberInput, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { useNavigate } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Card } from "@/components/card";
import { ConfigField } from "@/components/config-field";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { BROKER_SETTINGS } from "@/generated/settings";
import { clearDrafts, useDraft } from "@/lib/draft";
import { parseProperties } from "@/lib/properties";
import type { PlanRequest } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.newClusterPage;

interface Values {
  name: string;
  broker_count: number | string;
  listener_security: "SASL_SSL" | "SASL_PLAINTEXT";
  config: string;
}

const DRAFT = "new-cluster";
/** What the service accepts at once. */
const BROKERS_MAX = 30;
const NAME = /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/;

export function NewClusterPage() {
  return (
    <NeedsRole over="cluster" what={say.creatingClusters} title={say.newCluster}>
      <NewCluster />
    </NeedsRole>
  );
}

function NewCluster() {
  const navigate = useNavigate();
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const [initialValues, keep] = useDraft<Values>(DRAFT, {
    name: "",
    broker_count: 3,
    listener_security: "SASL_SSL",
    config: "",
  });
  const form = useForm<Values>({
    initialValues,
    onValuesChange: keep,
    validate: {
      name: (value) => (NAME.test(value) ? null : say.n2To40LowerCase),
      broker_count: (value) => (Number(value) >= 1 ? null : say.atLeastOneBroker),
    },
  });
  const submit = form.onSubmit((values) => {
    try {
      const config = parseProperties(values.config);
      setRequest({
        kind: "cluster.create",
        cluster_id: null,
        inputs: {
          name: values.name,
          broker_count: Number(values.broker_count),
          listener_security: values.listener_security,
          ...(Object.keys(config).length > 0 && { config }),
        },
      });
    } catch (error) {
      form.setFieldError("config", error instanceof Error ? error.message : String(error));
    }
  });
  const count = Number(form.values.broker_count) || 0;
  return (
    <>
      <PageHeader title={say.newCluster} sub={say.brokersArePlacedByRack} />
      <form onSubmit={submit}>
        <div className="ps-cols-2-1">
          <Card padded>
            <Stack gap="md">
              <TextInput
                label={say.name}
                placeholder={say.ordersProd}
                size="sm"
                autoComplete="off"
                {...form.getInputProps("name")}
              />
              <NumberInput
                label={say.brokers}
                min={1}
                max={BROKERS_MAX}
                size="sm"
                w={140}
                allowDecimal={false}
                {...form.getInputProps("broker_count")}
              />
              <div>
                <Text component="div" size="sm" fw={500} mb={4}>
                  {say.connections}
                </Text>
                <SegmentedControl
                  aria-label={say.connections}
                  size="xs"
                  data={[
                    { value: "SASL_SSL", label: say.tls },
                    { value: "SASL_PLAINTEXT", label: say.notEncrypted },
                  ]}
                  {...form.getInputProps("listener_security")}
                />
              </div>
              <ConfigField
                allowed={BROKER_SETTINGS}
                label={say.brokerConfiguration}
                placeholder={say.logRetentionHours72Min}
                minRows={3}
                {...form.getInputProps("config")}
              />
              <Group justify="flex-end" gap={8}>
                <ButtonLink variant="default" to="/">
                  {say.cancel}
                </ButtonLink>
                <Button type="submit">{say.reviewPlan}</Button>
              </Group>
            </Stack>
          </Card>
          <Card title={say.whatYouGet} padded>
            <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
              <div>{say.brokersWithTheKafkaProtocol(count)}</div>
              <div>{say.saslScramAuthenticationAndAcls}</div>
              <div>
                {form.values.listener_security === "SASL_SSL"
                  ? say.tlsForClientsAndBetween
                  : say.connectionsThatEverybodyOnThe}
              </div>
              {count >= 3 ? (
                <div>{say.topicsDefaultToThreeCopies}</div>
              ) : (
                <Notice tone="warn">{say.withFewerThanThreeBrokers}</Notice>
              )}
              <div className="ps-muted">{say.nothingStartsBeforeYouConfirm}</div>
            </Stack>
          </Card>
        </div>
      </form>
      <PlanFlow
        request={request}
        title={say.createCluster}
        onClose={() => setRequest(null)}
        onStarted={() => clearDrafts(DRAFT)}
        done={
          <Notice
            tone="ok"
            title={say.theClusterIsRunning}
            action={<Button onClick={() => void navigate({ to: "/" })}>{say.goToClusters}</Button>}
          >
            {say.itsBrokersAreRegisteredAnd}
          </Notice>
        }
      />
    </>
  );
}
