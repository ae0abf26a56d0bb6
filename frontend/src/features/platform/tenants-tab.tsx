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
import { ROLES, useChange, usePlatformTenant, usePlatformTenants } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { Role, TenantState, TenantSummary } from "@/lib/types";

type Form = { kind: "new" } | { kind: "rename" | "close" | "member"; tenant: TenantSummary } | null;

const column = createColumnHelper<TenantSummary>();
const TONES: Record<TenantState, Tone> = { active: "ok", suspended: "warn", closed: "muted" };
/** What can follow each state, in words. */
const MOVES: Record<TenantState, [to: TenantState, words: string][]> = {
  active: [["suspended", "Suspend"]],
  suspended: [["active", "Resume"]],
  closed: [["suspended", "Open again, suspended"]],
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
    (changed) => `${changed.name} is ${changed.state}.`,
  );
  const columns = [
    column.accessor("name", {
      header: "Tenant",
      cell: ({ row, getValue }) => (
        <>
          {getValue()} <span className="ps-muted ps-mono ps-hide-sm">{row.original.slug}</span>
        </>
      ),
    }),
    column.accessor("state", {
      header: "State",
      cell: ({ getValue }) => <Status tone={TONES[getValue()]} label={getValue()} />,
    }),
    column.accessor("members", { header: "Members", meta: { align: "right", hideBelow: "sm" } }),
    column.accessor("owners", {
      header: "Owners",
      meta: { align: "right", hideBelow: "sm" },
      cell: ({ getValue }) => (getValue() === 0 ? <span className="ps-warn">none</span> : getValue()),
    }),
    column.accessor("clusters", { header: "Clusters", meta: { align: "right" } }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">Actions</span>,
      meta: { align: "right" },
      cell: ({ row: { original: tenant } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={`Actions for ${tenant.slug}`}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setForm({ kind: "rename", tenant })}>Rename</Menu.Item>
            <Menu.Item onClick={() => setForm({ kind: "member", tenant })}>Add a member</Menu.Item>
            <Menu.Divider />
            {MOVES[tenant.state].map(([state, words]) => (
              <Menu.Item key={state} onClick={() => move.mutate({ tenant, state })}>
                {words}
              </Menu.Item>
            ))}
            {tenant.state === "suspended" && (
              <Menu.Item color="red" onClick={() => setForm({ kind: "close", tenant })}>
                Close
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
        title="Tenants"
        aside={
          <Button leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "new" })}>
            New tenant
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
              label="Tenants"
              defaultSort="name"
              empty={
                <Empty icon={<IconBuilding size={20} />} title="No tenants yet">
                  A tenant owns clusters and everything on them.
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
    (made) => `The tenant ${made.name} was made.`,
  );
  return (
    <FormModal
      title="New tenant"
      opened
      onClose={onClose}
      submit="Make it"
      ready={slug !== "" && name !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label="Name"
        size="sm"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Short name"
        description="Small letters, digits and dashes. It stays."
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
    (changed) => `It is called ${changed.name} now.`,
  );
  return (
    <FormModal
      title={`Rename ${tenant.name}`}
      opened
      onClose={onClose}
      submit="Rename"
      ready={name !== "" && name !== tenant.name}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label="Name"
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
    (changed) => `${changed.name} is closed.`,
  );
  return (
    <FormModal
      title={`Close ${tenant.name}`}
      opened
      onClose={onClose}
      submit="Close the tenant"
      danger
      ready={typed === tenant.slug && detail.isSuccess && remains.length === 0}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      {detail.isPending && <Lines rows={2} />}
      {detail.isError && <ProblemPanel error={detail.error} onRetry={() => void detail.refetch()} />}
      {remains.length > 0 && (
        <Notice tone="warn" title="Something would go on without the tenant">
          <ul style={{ margin: "4px 0", paddingLeft: 18 }} aria-label="What remains">
            {remains.map((row) => (
              <li key={row.id}>
                {row.kind} <span className="ps-mono">{row.name}</span>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <p style={{ margin: 0 }}>
        Its keys and open invitations end for good; its members do not see it any more. It can be opened again.
      </p>
      <TextInput
        label={`Type ${tenant.slug} to close it`}
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
    (made) => `${made.username} is ${made.role} of ${tenant.name}.`,
  );
  return (
    <FormModal
      title={`Add a member to ${tenant.name}`}
      opened
      onClose={onClose}
      submit="Add"
      ready={username !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label="User name"
        size="sm"
        autoComplete="off"
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <Select
        label="Role"
        size="sm"
        allowDeselect={false}
        data={ROLES}
        value={role}
        onChange={(value) => value && setRole(value as Role)}
      />
    </FormModal>
  );
}
