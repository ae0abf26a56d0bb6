import { Button, Checkbox, Group, NumberInput, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { useNavigate } from "@tanstack/react-router";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { ConfigField } from "@/components/config-field";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { BROKER_SETTINGS } from "@/generated/constants";
import { clearDrafts, useDraft } from "@/lib/draft";
import { plural } from "@/lib/format";
import { parseProperties } from "@/lib/properties";
import type { Host, PlanRequest } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";

interface Values {
  name: string;
  broker_count: number | string;
  host_ids: string[];
  listener_security: "SASL_SSL" | "SASL_PLAINTEXT";
  config: string;
}

const DRAFT = "new-cluster";
/** What the service accepts at once. */
const BROKERS_MAX = 30;
const NAME = /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/;

function HostChoice({ hosts, value, onChange }: { hosts: Host[]; value: string[]; onChange: (ids: string[]) => void }) {
  const alive = hosts.filter((host) => host.alive);
  if (alive.length === 0) {
    return (
      <Notice tone="bad" title="No host agent is connected">
        A cluster needs at least one host. Start an agent; this page notices it by itself.
      </Notice>
    );
  }
  return (
    <Checkbox.Group
      label="Hosts"
      description="None chosen: Penstock spreads the brokers over all connected hosts, rack by rack."
      value={value}
      onChange={onChange}
    >
      <Group mt={8} gap="lg">
        {alive.map((host) => (
          <Checkbox key={host.host_id} value={host.host_id} size="xs" label={`${host.host_id} (rack ${host.rack})`} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}

export function NewClusterPage() {
  return (
    <NeedsRole over="cluster" what="Creating clusters" title="New cluster">
      <NewCluster />
    </NeedsRole>
  );
}

function NewCluster() {
  const overview = useOverview();
  const navigate = useNavigate();
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const [initialValues, keep] = useDraft<Values>(DRAFT, {
    name: "",
    broker_count: 3,
    host_ids: [],
    listener_security: "SASL_SSL",
    config: "",
  });
  const form = useForm<Values>({
    initialValues,
    onValuesChange: keep,
    validate: {
      name: (value) =>
        NAME.test(value) ? null : "2 to 40 lower-case letters, digits and dashes, starting with a letter",
      broker_count: (value) => (Number(value) >= 1 ? null : "At least one broker"),
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
          ...(values.host_ids.length > 0 && { host_ids: values.host_ids }),
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
      <PageHeader
        title="New cluster"
        sub="Brokers are placed by rack, secured with SCRAM and ACLs, started by the host agents and checked before you get them."
      />
      <form onSubmit={submit}>
        <div className="ps-cols-2-1">
          <Card padded>
            <Stack gap="md">
              <TextInput
                label="Name"
                placeholder="orders-prod"
                size="sm"
                autoComplete="off"
                {...form.getInputProps("name")}
              />
              <NumberInput
                label="Brokers"
                min={1}
                max={BROKERS_MAX}
                size="sm"
                w={140}
                allowDecimal={false}
                {...form.getInputProps("broker_count")}
              />
              <PartView query={overview} name="hosts" rows={2}>
                {(hosts) => (
                  <HostChoice
                    hosts={hosts}
                    value={form.values.host_ids}
                    onChange={(ids) => form.setFieldValue("host_ids", ids)}
                  />
                )}
              </PartView>
              <div>
                <Text component="div" size="sm" fw={500} mb={4}>
                  Connections
                </Text>
                <SegmentedControl
                  aria-label="Connections"
                  size="xs"
                  data={[
                    { value: "SASL_SSL", label: "TLS" },
                    { value: "SASL_PLAINTEXT", label: "Not encrypted" },
                  ]}
                  {...form.getInputProps("listener_security")}
                />
              </div>
              <ConfigField
                allowed={BROKER_SETTINGS}
                label="Broker configuration"
                placeholder={"log.retention.hours=72\nmin.insync.replicas=2"}
                minRows={3}
                {...form.getInputProps("config")}
              />
              <Group justify="flex-end" gap={8}>
                <ButtonLink variant="default" to="/">
                  Cancel
                </ButtonLink>
                <Button type="submit">Review plan</Button>
              </Group>
            </Stack>
          </Card>
          <Card title="What you get" padded>
            <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
              <div>{plural(count, "broker")} with the Kafka protocol, transactions and client quotas included.</div>
              <div>
                SASL/SCRAM authentication and ACLs, on from the first second. An administrator account is made and kept
                encrypted.
              </div>
              <div>
                {form.values.listener_security === "SASL_SSL"
                  ? "TLS for clients and between brokers, by an authority of the cluster's own: clients get its certificate where they get their configuration."
                  : "Connections that everybody on the network can read. For brokers and clients on one machine."}
              </div>
              {count >= 3 ? (
                <div>
                  Topics default to three copies and two in-sync replicas: one broker can fail without a lost record.
                </div>
              ) : (
                <Notice tone="warn">
                  With fewer than three brokers a failed broker means unavailable partitions or lost records. Fine for
                  trying things out.
                </Notice>
              )}
              <div className="ps-muted">Nothing starts before you confirm the plan on the next screen.</div>
            </Stack>
          </Card>
        </div>
      </form>
      <PlanFlow
        request={request}
        title="Create cluster"
        onClose={() => setRequest(null)}
        onStarted={() => clearDrafts(DRAFT)}
        done={
          <Notice
            tone="ok"
            title="The cluster is running"
            action={<Button onClick={() => void navigate({ to: "/" })}>Go to clusters</Button>}
          >
            Its brokers are registered and answer metadata requests.
          </Notice>
        }
      />
    </>
  );
}
