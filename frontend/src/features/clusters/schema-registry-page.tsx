import { Button, Group, PasswordInput, Stack, Textarea, TextInput } from "@mantine/core";
import { IconBook2, IconPlugConnected } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { ButtonLink } from "@/components/button-link";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { formatExact, toDate } from "@/lib/format";
import { isRefusal, toProblem } from "@/lib/problem";
import { useSession } from "@/lib/session";
import type { SchemaRegistry, SchemaRegistryInput } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.schemaRegistryPage;

const route = getRouteApi("/app/clusters/$clusterId/schema-registry");
const ADDRESS = "/api/v1/clusters/{cluster_id}/schema-registry";

/** Where the schemas of a cluster's messages are, for whoever sees the cluster; owners change it. */
export function SchemaRegistryPage() {
  const { clusterId } = route.useParams();
  const { data: session } = useSession();
  const isOwner = session?.tenant?.role === "owner" && session.tenant.state === "active";
  const query = useQuery({
    queryKey: ["page", "schema-registry", clusterId],
    queryFn: ({ signal }) => api.get(ADDRESS, { blanks: { cluster_id: clusterId }, signal }),
  });
  const [form, setForm] = useState<"edit" | "remove" | null>(null);
  if (isRefusal(query)) return <Refused error={query.error} />;
  const found = query.data;
  const isSet = found !== undefined && found.url !== "";
  return (
    <>
      <PageHeader
        title={say.schemaRegistry}
        sub={say.whereTheSchemasAre}
        actions={
          <ButtonLink to="/clusters/$clusterId" params={{ clusterId }} variant="default">
            {say.openCluster}
          </ButtonLink>
        }
      />
      <Card padded>
        {query.isError && (
          <div style={{ marginBottom: found ? 16 : 0 }}>
            {found && (
              <Notice tone="warn" title={say.mayBeOutOfDate}>
                {say.asReadBefore}
              </Notice>
            )}
            <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
          </div>
        )}
        {found === undefined ? (
          !query.isError && <Lines rows={4} />
        ) : isSet ? (
          <Stack gap="md">
            <Facts registry={found} />
            {isOwner ? (
              <Group gap={8}>
                <Button onClick={() => setForm("edit")}>{say.change}</Button>
                <Button variant="default" color="red" onClick={() => setForm("remove")}>
                  {say.remove}
                </Button>
              </Group>
            ) : (
              <p className="ps-muted">{say.ownersChangeIt}</p>
            )}
          </Stack>
        ) : (
          <Empty
            icon={<IconBook2 size={20} />}
            title={say.noSchemaRegistry}
            action={isOwner && <Button onClick={() => setForm("edit")}>{say.setARegistry}</Button>}
          >
            {say.messagesAreShownAsBytes}
            {!isOwner && ` ${say.ownersSetOne}`}
          </Empty>
        )}
      </Card>
      {form === "edit" && found && (
        <RegistryForm clusterId={clusterId} registry={found} onClose={() => setForm(null)} />
      )}
      {form === "remove" && found && (
        <RemoveForm clusterId={clusterId} registry={found} onClose={() => setForm(null)} />
      )}
    </>
  );
}

function Facts({ registry }: { registry: SchemaRegistry }) {
  const at = toDate(registry.changed_at);
  return (
    <dl className="ps-kv">
      <dt>{say.url}</dt>
      <dd>
        <bdi className="ps-mono">{registry.url}</bdi>
      </dd>
      <dt>{say.user}</dt>
      <dd>{registry.username === "" ? say.noUser : <bdi className="ps-mono">{registry.username}</bdi>}</dd>
      <dt>{say.password}</dt>
      <dd>{registry.has_password ? say.passwordIsKept : say.noPassword}</dd>
      <dt>{say.authorities}</dt>
      <dd>{registry.ca_pem === "" ? say.trustedByTheService : say.someOfItsOwn}</dd>
      <dt>{say.changed}</dt>
      <dd>{at ? formatExact(at) : say.notKnown}</dd>
    </dl>
  );
}

interface FormProps {
  clusterId: string;
  registry: SchemaRegistry;
  onClose: () => void;
}

function RegistryForm({ clusterId, registry, onClose }: FormProps) {
  const [given, setGiven] = useState({ url: registry.url, username: registry.username, ca_pem: registry.ca_pem });
  // Nothing typed keeps the password; "" is what takes it away.
  const [password, setPassword] = useState<string>();
  const body: SchemaRegistryInput = { ...given, ...(password !== undefined && { password }) };
  const blanks = { cluster_id: clusterId };
  const save = useChange(
    (wanted: SchemaRegistryInput) => api.put(ADDRESS, { blanks, body: wanted, ifMatch: registry.etag }),
    () => say.saved,
  );
  const check = useMutation({
    mutationFn: (wanted: SchemaRegistryInput) => api.post(`${ADDRESS}/check`, { blanks, body: wanted }),
  });
  const change = (part: Partial<typeof given>) => {
    setGiven((old) => ({ ...old, ...part }));
    check.reset(); // it was of other values
  };
  const type = (value: string | undefined) => {
    setPassword(value);
    check.reset();
  };
  const faults = Object.fromEntries(
    [save.error, check.error].flatMap((error) =>
      error ? (toProblem(error).errors ?? []).map((row) => [row.pointer.replace(/^\//, ""), row.detail]) : [],
    ),
  ) as Record<string, string>;
  const keeps = registry.has_password && given.url === registry.url;
  const ready = given.url.trim() !== "";
  return (
    <FormModal
      opened
      title={registry.url === "" ? say.setASchemaRegistry : say.changeTheSchemaRegistry}
      submit={say.save}
      onClose={onClose}
      onSubmit={() => save.mutate(body, { onSuccess: onClose })}
      ready={ready}
      pending={save.isPending}
      error={save.error}
    >
      <Stack gap="sm">
        <TextInput
          label={say.url}
          description={say.whatUrls}
          placeholder={say.exampleUrl}
          value={given.url}
          error={faults.url}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => change({ url: event.currentTarget.value.trim() })}
        />
        <TextInput
          label={say.user}
          value={given.username}
          error={faults.username}
          maxLength={200}
          autoComplete="off"
          onChange={(event) => change({ username: event.currentTarget.value })}
        />
        <PasswordInput
          label={say.password}
          description={
            keeps ? say.leaveEmptyToKeep : registry.has_password ? say.keptForTheOtherAddress : say.willBeKeptSealed
          }
          value={password ?? ""}
          error={faults.password}
          maxLength={500}
          autoComplete="new-password"
          onChange={(event) => type(event.currentTarget.value || undefined)}
        />
        {keeps && (
          <Group gap={8}>
            <Button size="compact-sm" variant="default" onClick={() => type(password === "" ? undefined : "")}>
              {password === "" ? say.keepThePassword : say.takeThePasswordAway}
            </Button>
            {password === "" && <span className="ps-muted">{say.forgottenWhenYouSave}</span>}
          </Group>
        )}
        <Textarea
          label={say.authorities}
          description={say.whatAuthorities}
          value={given.ca_pem}
          error={faults.ca_pem}
          autosize
          minRows={2}
          maxRows={6}
          spellCheck={false}
          onChange={(event) => change({ ca_pem: event.currentTarget.value })}
        />
        <Group gap={8}>
          <Button
            variant="default"
            leftSection={<IconPlugConnected size={15} />}
            loading={check.isPending}
            disabled={!ready}
            onClick={() => check.mutate(body)}
          >
            {say.testConnection}
          </Button>
          <span role="status">{check.data?.answers === true && say.aRegistryAnswers}</span>
        </Group>
        {check.data?.answers === false && (
          <Notice tone="warn" title={say.noRegistryAnswers}>
            <bdi>{check.data.detail}</bdi>
          </Notice>
        )}
        {check.isError && Object.keys(faults).length === 0 && <ProblemPanel error={check.error} />}
      </Stack>
    </FormModal>
  );
}

function RemoveForm({ clusterId, registry, onClose }: FormProps) {
  const remove = useChange(
    () => api.delete(ADDRESS, { blanks: { cluster_id: clusterId }, ifMatch: registry.etag }),
    () => say.removed,
  );
  return (
    <FormModal
      opened
      danger
      title={say.removeTheSchemaRegistry}
      submit={say.remove}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined, { onSuccess: onClose })}
      pending={remove.isPending}
      error={remove.error}
    >
      <p style={{ margin: 0 }}>{say.whatRemovingDoes}</p>
    </FormModal>
  );
}
