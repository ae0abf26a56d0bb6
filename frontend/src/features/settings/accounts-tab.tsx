import { ActionIcon, Button, Menu, Stack, Switch, TextInput } from "@mantine/core";
import { IconDots, IconKey, IconPlus, IconRefresh, IconRobot } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { DeleteItem } from "@/components/more-menu";
import { RelTime } from "@/components/rel-time";
import { type Once, ShownOnce } from "@/components/shown-once";
import { Status } from "@/components/status";
import { NewKeyForm, RevokeKeyForm, RotateForm } from "@/features/settings/key-forms";
import { Rights } from "@/features/settings/rights";
import { useApiKeys, useChange, useServiceAccounts } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { ApiKey, ServiceAccount } from "@/lib/types";
import { words } from "@/words/settings";

const say = words.accountsTab;

type Form =
  | { kind: "account" }
  | { kind: "change"; account: ServiceAccount }
  | { kind: "key"; account?: ServiceAccount }
  | { kind: "rotate"; key: ApiKey }
  | { kind: "revoke"; key: ApiKey }
  | null;

const account = createColumnHelper<ServiceAccount>();
const key = createColumnHelper<ApiKey>();
const isOver = (row: ApiKey): boolean => row.expires_at !== null && new Date(row.expires_at).getTime() <= Date.now();

function KeyState({ row }: { row: ApiKey }) {
  if (row.revoked_at) return <Status tone="muted" label={say.revoked} />;
  return isOver(row) ? <Status tone="muted" label={say.ended} /> : <Status tone="ok" label={say.live} />;
}

export function AccountsTab({ isOwner }: { isOwner: boolean }) {
  const [form, setForm] = useState<Form>(null);
  const [once, setOnce] = useState<Once | null>(null);
  const accounts = useServiceAccounts();
  const keys = useApiKeys();
  const close = () => setForm(null);
  const show = (text: string, hint: string) => {
    setForm(null);
    setOnce({ title: say.apiKey, label: say.key, text, hint });
  };
  const accountColumns = [
    account.accessor("name", {
      header: say.serviceAccount,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>
          {row.original.disabled && (
            <span className="ps-tag" data-tone="muted">
              {say.disabled}
            </span>
          )}
        </>
      ),
    }),
    account.accessor("description", { header: say.whatItIs, meta: { hideBelow: "sm" } }),
    account.accessor("live_keys", { header: say.liveKeys, meta: { align: "right" } }),
    account.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsForAccount(row.original.name)}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconKey size={15} />}
                disabled={row.original.disabled}
                onClick={() => setForm({ kind: "key", account: row.original })}
              >
                {say.newKey}
              </Menu.Item>
              <Menu.Item
                leftSection={<IconRobot size={15} />}
                onClick={() => setForm({ kind: "change", account: row.original })}
              >
                {say.change}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  const keyColumns = [
    key.accessor("name", {
      header: say.key,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>{" "}
          <span className="ps-muted ps-mono ps-hide-sm">{row.original.prefix}</span>
        </>
      ),
    }),
    key.accessor((row) => row.service_account.name, { id: "account", header: say.ofWord, meta: { hideBelow: "sm" } }),
    key.accessor("scope", {
      header: say.may,
      cell: ({ row }) => <Rights role={row.original.scope} grants={row.original.grants} />,
    }),
    key.display({ id: "state", header: say.state, cell: ({ row }) => <KeyState row={row.original} /> }),
    key.accessor("last_used_at", {
      header: say.lastUse,
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} fallback={say.never} />,
    }),
    key.accessor("expires_at", {
      header: say.ends,
      meta: { hideBelow: "md" },
      cell: ({ getValue }) => <RelTime at={getValue()} fallback={say.never} />,
    }),
    key.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner &&
        !row.original.revoked_at &&
        !isOver(row.original) && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsForKey(row.original.name, row.original.prefix)}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconRefresh size={15} />}
                onClick={() => setForm({ kind: "rotate", key: row.original })}
              >
                {say.rotate}
              </Menu.Item>
              <DeleteItem onClick={() => setForm({ kind: "revoke", key: row.original })}>{say.revoke}</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <Stack gap="md">
      <Card
        title={say.serviceAccounts}
        aside={
          isOwner && (
            <Button leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "account" })}>
              {say.newServiceAccount}
            </Button>
          )
        }
      >
        <ListView query={accounts}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={accountColumns}
              rowId={(row) => row.id}
              label={say.serviceAccounts}
              defaultSort="name"
              empty={
                <Empty icon={<IconRobot size={20} />} title={say.noServiceAccountsYet}>
                  {say.makeOneForEachProgram}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      <Card title={say.apiKeys}>
        <ListView query={keys}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={keyColumns}
              rowId={(row) => row.id}
              label={say.apiKeys}
              empty={
                <Empty icon={<IconKey size={20} />} title={say.noApiKeysYet}>
                  {say.aKeyBelongsToA}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "account" && <NewAccountForm onClose={close} />}
      {form?.kind === "change" && <ChangeAccountForm account={form.account} onClose={close} />}
      {form?.kind === "key" && form.account && <NewKeyForm account={form.account} onClose={close} onMade={show} />}
      {form?.kind === "rotate" && <RotateForm apiKey={form.key} onClose={close} onMade={show} />}
      {form?.kind === "revoke" && <RevokeKeyForm apiKey={form.key} onClose={close} />}
      <ShownOnce once={once} onClose={() => setOnce(null)} />
    </Stack>
  );
}

function NewAccountForm({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const send = useChange(
    () => api.post("/api/v1/service-accounts", { body: { name, description } }),
    (made) => say.theServiceAccountWasMade(made.name),
  );
  return (
    <FormModal
      title={say.newServiceAccount}
      opened
      onClose={onClose}
      submit={say.makeIt}
      ready={name !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.name}
        placeholder={say.ordersPipeline}
        size="sm"
        autoComplete="off"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={say.whatItIs}
        size="sm"
        maxLength={300}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormModal>
  );
}

function ChangeAccountForm({ account: present, onClose }: { account: ServiceAccount; onClose: () => void }) {
  const [description, setDescription] = useState(present.description);
  const [disabled, setDisabled] = useState(present.disabled);
  const send = useChange(
    () =>
      api.put("/api/v1/service-accounts/{account_id}", {
        blanks: { account_id: present.id },
        body: { description, disabled },
        ifMatch: present.etag,
      }),
    (made) => say.theServiceAccountWasChanged(made.name),
  );
  return (
    <FormModal
      title={say.serviceAccount2(present.name)}
      opened
      onClose={onClose}
      submit={say.save}
      ready={description !== present.description || disabled !== present.disabled}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <TextInput
        label={say.whatItIs}
        size="sm"
        maxLength={300}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <Switch
        label={say.disabled2}
        description={say.itsKeysOpenNothingUntil}
        checked={disabled}
        onChange={(event) => setDisabled(event.currentTarget.checked)}
      />
    </FormModal>
  );
}
