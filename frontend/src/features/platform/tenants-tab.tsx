import { ActionIcon, Button, Menu, Select, TextInput } from "@mantine/core";
import { IconBuilding, IconDots, IconPlus } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { Status, type Tone } from "@/components/status";
import { useChange, usePlatformTenant, usePlatformTenants } from "@/lib/administration";
import { roleChoices, roleWord } from "@/lib/grant-words";
import { api } from "@/lib/api-client";
import { isKind, kindLabel } from "@/lib/kinds";
import type { Role, TenantState, TenantSummary } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.tenantsTab;

type Form = { kind: "new" } | { kind: "rename" | "close" | "member"; tenant: TenantSummary } | null;

const column = createColumnHelper<TenantSummary>();
const TONES: Record<TenantState, Tone> = { active: "ok", suspended: "warn", closed: "muted" };
/** What can follow each state, in words. */
const MOVES: Record<TenantState, [to: TenantState, words: string][]> = {
  active: [["suspended", say.suspend]],
  suspended: [["active", say.resume]],
  closed: [["suspended", say.openAgainSuspended]],
};

const update = (tenant: TenantSummary, change: { name?: string; state?: TenantState }) =>
  api.put("/api/v1/operator/tenants/{tenant_id}", {
    blanks: { tenant_id: tenant.id },
    body: { name: change.name ?? tenant.name, state: change.state ?? tenant.state },
    ifMatch: tenant.etag,
  });

export function TenantsTab() {
  const [form, setForm] = useState<Form>(null);
  const tenants = usePlatformTenants();
  const move = useChange(
    ({ tenant, state }: { tenant: TenantSummary; state: TenantState }) => update(tenant, { state }),
    (changed) => say.is(changed.name, say.states[changed.state]),
  );
  const columns = [
    column.accessor("name", {
      header: say.tenant,
      cell: ({ row, getValue }) => (
        <>
          {getValue()} <span className="ps-muted ps-mono ps-hide-sm">{row.original.slug}</span>
        </>
      ),
    }),
    column.accessor("state", {
      header: say.state,
      cell: ({ getValue }) => <Status tone={TONES[getValue()]} label={say.states[getValue()]} />,
    }),
    column.accessor("members", { header: say.members, meta: { align: "right", hideBelow: "sm" } }),
    column.accessor("owners", {
      header: say.owners,
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => (getValue() === 0 ? <span className="ps-warn">{say.none}</span> : getValue()),
    }),
    column.accessor("clusters", { header: say.clusters, meta: { align: "right" } }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: tenant } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={say.actionsFor(tenant.slug)}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setForm({ kind: "rename", tenant })}>{say.rename}</Menu.Item>
            <Menu.Item onClick={() => setForm({ kind: "member", tenant })}>{say.addAMember}</Menu.Item>
            <Menu.Divider />
            {MOVES[tenant.state].map(([state, words]) => (
              <Menu.Item key={state} onClick={() => move.mutate({ tenant, state })}>
                {words}
              </Menu.Item>
            ))}
            {tenant.state === "suspended" && (
              <Menu.Item color="red" onClick={() => setForm({ kind: "close", tenant })}>
                {say.close}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      ),
    }),
  ];
  const close = () => setForm(null);
  return (
    <>
      <Card
        title={say.tenants}
        aside={
          <Button leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "new" })}>
            {say.newTenant}
          </Button>
        }
      >
        {move.isError && (
          <div className="ps-card-body">
            <ProblemPanel error={move.error} />
          </div>
        )}
        <ListView query={tenants}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(row) => row.id}
              label={say.tenants}
              defaultSort="name"
              empty={
                <Empty icon={<IconBuilding size={20} />} title={say.noTenantsYet}>
                  {say.aTenantOwnsClustersAnd}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "new" && <NewTenantForm onClose={close} />}
      {form?.kind === "rename" && <RenameForm tenant={form.tenant} onClose={close} />}
      {form?.kind === "close" && <CloseForm tenant={form.tenant} onClose={close} />}
      {form?.kind === "member" && <MemberForm tenant={form.tenant} onClose={close} />}
    </>
  );
}

function NewTenantForm({ onClose }: { onClose: () => void }) {
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const send = useChange(
    () => api.post("/api/v1/operator/tenants", { body: { slug, name } }),
    (made) => say.theTenantWasMade(made.name),
  );
  return (
    <FormModal
      title={say.newTenant}
      opened
      onClose={onClose}
      submit={say.makeIt}
      ready={slug !== "" && name !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.name}
        size="sm"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={say.shortName}
        description={say.smallLettersDigitsAndDashes}
        size="sm"
        maxLength={60}
        autoComplete="off"
        value={slug}
        onChange={(event) => setSlug(event.currentTarget.value)}
      />
    </FormModal>
  );
}

interface OfTenant {
  tenant: TenantSummary;
  onClose: () => void;
}

function RenameForm({ tenant, onClose }: OfTenant) {
  const [name, setName] = useState(tenant.name);
  const send = useChange(
    () => update(tenant, { name }),
    (changed) => say.itIsCalledNow(changed.name),
  );
  return (
    <FormModal
      title={say.rename2(tenant.name)}
      opened
      onClose={onClose}
      submit={say.rename}
      ready={name !== "" && name !== tenant.name}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.name}
        size="sm"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormModal>
  );
}

function CloseForm({ tenant, onClose }: OfTenant) {
  const [typed, setTyped] = useState("");
  const detail = usePlatformTenant(tenant.id);
  const remains = detail.data?.remains ?? [];
  const send = useChange(
    () => update(tenant, { state: "closed" }),
    (changed) => say.isClosed(changed.name),
  );
  return (
    <FormModal
      title={say.close2(tenant.name)}
      opened
      onClose={onClose}
      submit={say.closeTheTenant}
      danger
      ready={typed === tenant.slug && detail.isSuccess && remains.length === 0}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      {detail.isPending && <Lines rows={2} />}
      {detail.isError && <ProblemPanel error={detail.error} onRetry={() => void detail.refetch()} />}
      {remains.length > 0 && (
        <Notice tone="warn" title={say.somethingWouldGoOnWithout}>
          <ul style={{ margin: "4px 0", paddingLeft: 18 }} aria-label={say.whatRemains}>
            {remains.map((row) => (
              <li key={row.id}>
                {say.remainder[row.kind]}{" "}
                {row.kind === "operation" && isKind(row.name) ? (
                  kindLabel(row.name)
                ) : (
                  <span className="ps-mono">{row.name}</span>
                )}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <p style={{ margin: 0 }}>{say.itsKeysAndOpenInvitations}</p>
      <TextInput
        label={say.typeToCloseIt(tenant.slug)}
        size="sm"
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </FormModal>
  );
}

function MemberForm({ tenant, onClose }: OfTenant) {
  const [username, setUsername] = useState("");
  const [role, setRole] = useState<Role>("owner");
  const send = useChange(
    () =>
      api.post("/api/v1/operator/tenants/{tenant_id}/members", {
        blanks: { tenant_id: tenant.id },
        body: { username, role },
      }),
    (made) => say.isOf(made.username, roleWord(made.role), tenant.name),
  );
  return (
    <FormModal
      title={say.addAMemberTo(tenant.name)}
      opened
      onClose={onClose}
      submit={say.add}
      ready={username !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.userName}
        size="sm"
        autoComplete="off"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Select
        label={say.role}
        size="sm"
        allowDeselect={false}
        data={roleChoices()}
        value={role}
        onChange={(value) => value && setRole(value as Role)}
      />
    </FormModal>
  );
}
