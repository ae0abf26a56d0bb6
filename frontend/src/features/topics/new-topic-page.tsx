import { Button, Group, NumberInput, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ButtonLink } from "@/components/button-link";
import { Card, PartView } from "@/components/card";
import { ConfigField } from "@/components/config-field";
import { NeedsRole } from "@/components/needs-role";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { PlanFlow } from "@/components/plan-flow";
import { TOPIC_SETTINGS } from "@/generated/settings";
import { clearDrafts, useDraft } from "@/lib/draft";
import { usePage } from "@/lib/page";
import { parseProperties } from "@/lib/properties";
import type { FieldProblems } from "@/lib/problem";
import type { PlanRequest } from "@/lib/types";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words/topics";
import { type NewTopicValues, startLike } from "./clone";

const say = words.newTopicPage;

const route = getRouteApi("/app/clusters/$clusterId/new-topic");
const NAME = /^[A-Za-z0-9._-]{1,249}$/;
/** What each setting may be, in words. */
const ALLOWED = Object.fromEntries(Object.entries(TOPIC_SETTINGS).map(([key, { allowed }]) => [key, allowed]));

/** By the path that a plan names, or by the key of a setting that has a field of its own. */
const FIELDS: Record<string, string> = {
  name: "name",
  partitions: "partitions",
  replication_factor: "replication_factor",
  "retention.ms": "retention",
  "cleanup.policy": "cleanup",
};

const RETENTION = [
  { value: "", label: say.clusterDefault },
  { value: "3600000", label: say.oneHour },
  { value: "86400000", label: say.oneDay },
  { value: "259200000", label: say.threeDays },
  { value: "604800000", label: say.sevenDays },
  { value: "2592000000", label: say.thirtyDays },
  { value: "-1", label: say.forEver },
];
const CLEANUP = [
  { value: "", label: say.clusterDefault },
  { value: "delete", label: say.deleteOldSegments },
  { value: "compact", label: say.compact },
  { value: "compact,delete", label: say.compactAndDelete },
];

const CHOICES = { retention: RETENTION.map((one) => one.value), cleanup: CLEANUP.map((one) => one.value) };

/** What the plan says of single fields, at the fields of this form; settings stand in one field, or in one of two lists. */
function atFields(problems: FieldProblems): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [path, detail] of Object.entries(problems)) {
    const key = path.replace(/^configs\//, "");
    const own = FIELDS[path] ?? FIELDS[key];
    const field = own ?? "configs";
    const said = own || detail.includes(key) ? detail : `${key}: ${detail}`;
    found[field] = [found[field], said].filter(Boolean).join(" ");
  }
  return found;
}

/** A topic made anew, or like the one that the address names. */
export function NewTopicPage() {
  const { clusterId } = route.useParams();
  const { from } = route.useSearch();
  const cluster = useCluster(clusterId);
  return (
    <>
      <PageHeader
        title={from ? say.cloneTopic : say.newTopic}
        sub={cluster && (from ? say.likeOnCluster(from, cluster.name) : say.onCluster(cluster.name))}
      />
      {from ? (
        <NeedsRole over="topic" clusterId={clusterId} what={say.creatingTopics}>
          <Clone key={from} clusterId={clusterId} from={from} />
        </NeedsRole>
      ) : (
        <NeedsRole over="topic" clusterId={clusterId} what={say.creatingTopics}>
          <NewTopicForm clusterId={clusterId} draft={`new-topic/${clusterId}`} />
        </NeedsRole>
      )}
    </>
  );
}

/** The form, once it is known what the topic is like that it starts from. */
function Clone({ clusterId, from }: { clusterId: string; from: string }) {
  const query = usePage("topic/{cluster_id}/{topic}", { cluster_id: clusterId, topic: from }, false);
  return (
    <div className="ps-stack">
      <PartView query={query} name="topic" rows={8}>
        {(topic) => (
          <>
            <Notice tone="info">{say.whatIsTakenOver}</Notice>
            {topic.configs === null && (
              <Notice tone="warn" title={say.settingsNotKnown}>
                {say.startsWithoutSettings}
              </Notice>
            )}
            <NewTopicForm
              clusterId={clusterId}
              draft={`clone-topic/${clusterId}/${from}`}
              start={startLike(topic, CHOICES)}
            />
          </>
        )}
      </PartView>
    </div>
  );
}

interface NewTopicFormProps {
  clusterId: string;
  /** What is typed is kept under this. */
  draft: string;
  start?: NewTopicValues;
}

function NewTopicForm({ clusterId, draft, start }: NewTopicFormProps) {
  const cluster = useCluster(clusterId);
  const navigate = useNavigate();
  const [request, setRequest] = useState<PlanRequest | null>(null);
  const brokers = cluster?.brokers.length ?? 3;
  const [initialValues, keep] = useDraft<NewTopicValues>(
    draft,
    start ?? {
      name: "",
      partitions: 6,
      replication_factor: Math.min(3, brokers),
      retention: "",
      cleanup: "",
      configs: "",
    },
  );
  const form = useForm({
    initialValues,
    onValuesChange: keep,
    validate: {
      name: (value) => (NAME.test(value) && value !== "." && value !== ".." ? null : say.nameIsWrong),
      partitions: (value) => (Number(value) >= 1 ? null : say.atLeastOne),
      replication_factor: (value) => (Number(value) >= 1 ? null : say.atLeastOne),
    },
  });
  const copies = Number(form.values.replication_factor);
  const submit = form.onSubmit((values) => {
    try {
      const configs = parseProperties(values.configs);
      if (values.retention) configs["retention.ms"] = values.retention;
      if (values.cleanup) configs["cleanup.policy"] = values.cleanup;
      setRequest({
        kind: "topic.create",
        cluster_id: clusterId,
        inputs: {
          name: values.name,
          partitions: Number(values.partitions),
          replication_factor: Number(values.replication_factor),
          configs,
        },
      });
    } catch (error) {
      form.setFieldError("configs", error instanceof Error ? error.message : String(error));
    }
  });
  return (
    <>
      <form onSubmit={submit}>
        <div className="ps-cols-2-1">
          <Card padded>
            <Stack gap="md">
              <TextInput
                label={say.name}
                placeholder="orders.created"
                size="sm"
                autoComplete="off"
                spellCheck={false}
                {...form.getInputProps("name")}
              />
              <Group grow align="flex-start">
                <NumberInput
                  label={say.partitions}
                  min={1}
                  max={10000}
                  size="sm"
                  allowDecimal={false}
                  {...form.getInputProps("partitions")}
                />
                <NumberInput
                  label={say.replicationFactor}
                  min={1}
                  max={brokers}
                  size="sm"
                  allowDecimal={false}
                  {...form.getInputProps("replication_factor")}
                />
              </Group>
              <Group grow align="flex-start">
                <Select
                  label={say.keepRecordsFor}
                  data={RETENTION}
                  size="sm"
                  allowDeselect={false}
                  {...form.getInputProps("retention")}
                />
                <Select
                  label={say.cleanUp}
                  data={CLEANUP}
                  size="sm"
                  allowDeselect={false}
                  {...form.getInputProps("cleanup")}
                />
              </Group>
              <ConfigField
                allowed={ALLOWED}
                label={say.moreConfiguration}
                placeholder={say.configurationExample}
                minRows={2}
                {...form.getInputProps("configs")}
              />
              <Group justify="flex-end" gap={8}>
                <ButtonLink variant="default" to="/clusters/$clusterId/topics" params={{ clusterId }}>
                  {say.cancel}
                </ButtonLink>
                <Button type="submit">{say.reviewPlan}</Button>
              </Group>
            </Stack>
          </Card>
          <Card title={say.goodToKnow} padded>
            <Stack gap={8} style={{ fontSize: "0.8125rem" }}>
              <div>{say.unitOfReading}</div>
              <div>{say.addedNeverRemoved}</div>
              {copies === 1 && <Notice tone="warn">{say.withOneCopy}</Notice>}
              {copies === 2 && <Notice tone="warn">{say.withTwoCopies}</Notice>}
            </Stack>
          </Card>
        </div>
      </form>
      <PlanFlow
        request={request}
        title={say.createTopic}
        onClose={() => setRequest(null)}
        onStarted={() => clearDrafts(draft)}
        onFields={(problems) => form.setErrors(atFields(problems))}
        done={
          <Notice
            tone="ok"
            title={say.topicIsThere}
            action={
              <Button
                onClick={() =>
                  void navigate({
                    to: "/clusters/$clusterId/topics/$topic",
                    params: { clusterId, topic: form.values.name },
                  })
                }
              >
                {say.openTopic}
              </Button>
            }
          />
        }
      />
    </>
  );
}
