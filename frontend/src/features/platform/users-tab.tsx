import { ActionIcon, Button, Menu, Switch, TextInput } from "@mantine/core";
import { IconDots, IconLink, IconUserPlus } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { RelTime } from "@/components/rel-time";
import { type Once, ShownOnce } from "@/components/shown-once";
import { Status } from "@/components/status";
import { linkOf, useChange, usePlatformUsers } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { PlatformUser } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.usersTab;

type Form = { kind: "new" } | { kind: "change" | "link"; user: PlatformUser } | null;

const column = createColumnHelper<PlatformUser>();

export function UsersTab() {
  const [form, setForm] = useState<Form>(null);
  const [once, setOnce] = useState<Once | null>(null);
  const users = usePlatformUsers();
  const close = () => setForm(null);
  const show = (username: string, path: string) => {
    setForm(null);
    setOnce({
      title: say.linkFor(username),
      label: say.link,
      text: linkOf(path),
      hint: say.whoeverOpensItChoosesThe(username),
    });
  };
  const columns = [
    column.accessor("username", {
      header: say.user,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>
          {row.original.is_operator && <span className="ps-tag">{say.operator}</span>}
        </>
      ),
    }),
    column.accessor("is_active", {
      header: say.login,
      cell: ({ row: { original: user } }) => {
        if (!user.is_active) return <Status tone="muted" label={say.ended} />;
        return user.has_password ? (
          <Status tone="ok" label={say.active} />
        ) : (
          <Status tone="warn" label={say.noPasswordYet} />
        );
      },
    }),
    column.accessor((row) => row.tenants.map((tenant) => tenant.slug).join(", "), {
      id: "tenants",
      header: say.tenants,
      meta: { hideBelow: "sm" },
    }),
    column.accessor("last_login_at", {
      header: say.lastSignIn,
      meta: { hideBelow: "md" },
      cell: ({ getValue }) => <RelTime at={getValue()} fallback={say.never} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: user } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={say.actionsFor(user.username)}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => setForm({ kind: "change", user })}>{say.change}</Menu.Item>
            <Menu.Item
              leftSection={<IconLink size={15} />}
              disabled={!user.is_active}
              onClick={() => setForm({ kind: "link", user })}
            >
              {say.linkToAPassword}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      ),
    }),
  ];
  return (
    <>
      <Card
        title={say.users}
        aside={
          <Button leftSection={<IconUserPlus size={15} />} onClick={() => setForm({ kind: "new" })}>
            {say.newUser}
          </Button>
        }
      >
        <ListView query={users}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(row) => row.username}
              label={say.users}
              defaultSort="username"
              empty={<Empty title={say.noUsers}>{say.makeTheFirstOne}</Empty>}
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "new" && <NewUserForm onClose={close} onLink={show} />}
      {form?.kind === "change" && <ChangeUserForm user={form.user} onClose={close} onLink={show} />}
      {form?.kind === "link" && <LinkForm user={form.user} onClose={close} onLink={show} />}
      <ShownOnce once={once} onClose={() => setOnce(null)} />
    </>
  );
}

interface GivesLink {
  onClose: () => void;
  onLink: (username: string, path: string) => void;
}

function OperatorSwitch({ checked, onChange }: { checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <Switch
      label={say.operatorOfThePlatform}
      description={say.seesAndChangesEveryTenant}
      checked={checked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

function NewUserForm({ onClose, onLink }: GivesLink) {
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const [isOperator, setIsOperator] = useState(false);
  const send = useChange(() =>
    api.post("/api/v1/operator/users", { body: { username, email, is_operator: isOperator } }),
  );
  return (
    <FormModal
      title={say.newUser}
      opened
      onClose={onClose}
      submit={say.makeTheUser}
      ready={username !== ""}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onLink(made.username, made.link.path) })}
    >
      <TextInput
        label={say.userName}
        size="sm"
        autoComplete="off"
        maxLength={150}
        value={username}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <TextInput
        label={say.mailAddress}
        description={say.shownToOperatorsOnlyNothing}
        size="sm"
        type="email"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <OperatorSwitch checked={isOperator} onChange={setIsOperator} />
    </FormModal>
  );
}

function ChangeUserForm({ user, onClose, onLink }: GivesLink & { user: PlatformUser }) {
  const [email, setEmail] = useState(user.email);
  const [isActive, setIsActive] = useState(user.is_active);
  const [isOperator, setIsOperator] = useState(user.is_operator);
  const send = useChange(
    () =>
      api.put("/api/v1/operator/users/{username}", {
        blanks: { username: user.username },
        body: { email, is_active: isActive, is_operator: isOperator },
        ifMatch: user.etag,
      }),
    ({ username, tenants_without_owner: left }) =>
      left.length > 0 ? say.wasChangedTheseTenantsHave(username, left.join(", ")) : say.wasChanged(username),
  );
  const changed = email !== user.email || isActive !== user.is_active || isOperator !== user.is_operator;
  return (
    <FormModal
      title={say.user2(user.username)}
      opened
      onClose={onClose}
      submit={user.is_active && !isActive ? say.endTheLogin : say.save}
      danger={user.is_active && !isActive}
      ready={changed}
      pending={send.isPending}
      error={send.error}
      onSubmit={() =>
        send.mutate(undefined, {
          onSuccess: (made) => (made.link ? onLink(made.username, made.link.path) : onClose()),
        })
      }
    >
      <TextInput
        label={say.mailAddress}
        size="sm"
        type="email"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <OperatorSwitch checked={isOperator} onChange={setIsOperator} />
      <Switch
        label={say.maySignIn}
        description={say.switchedOffAllSessionsEnd}
        checked={isActive}
        onChange={(event) => setIsActive(event.currentTarget.checked)}
      />
    </FormModal>
  );
}

function LinkForm({ user: { username }, onClose, onLink }: GivesLink & { user: PlatformUser }) {
  const send = useChange(() => api.post("/api/v1/operator/users/{username}/link", { blanks: { username } }));
  return (
    <FormModal
      title={say.linkFor(username)}
      opened
      onClose={onClose}
      submit={say.makeTheLink}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onLink(username, made.path) })}
    >
      <p style={{ margin: 0 }}>{say.whoeverOpensItChoosesThePasswordOf(username)}</p>
    </FormModal>
  );
}
