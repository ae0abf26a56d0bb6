import { ActionIcon, Button, Menu, Select, Stack, TextInput } from "@mantine/core";
import { IconDots, IconMailForward, IconUserCog } from "@tabler/icons-react";
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
import { Status, type Tone } from "@/components/status";
import { isGrant } from "@/lib/grants";
import { plural } from "@/lib/format";
import { linkOf, ROLES, useChange, useInvitations, useMembers } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { Invitation, Member, Role } from "@/lib/types";
import { GrantsEditor } from "./grants-editor";
import { Rights } from "./rights";

type Change = { member: Member; to: "role" | "removed" } | null;

const member = createColumnHelper<Member>();
const invitation = createColumnHelper<Invitation>();
const TONES: Record<Invitation["state"], Tone> = { open: "run", accepted: "ok", revoked: "muted", expired: "muted" };

export function MembersTab({ isOwner }: { isOwner: boolean }) {
  const [change, setChange] = useState<Change>(null);
  const [inviting, setInviting] = useState(false);
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const [once, setOnce] = useState<Once | null>(null);
  const members = useMembers();
  const invitations = useInvitations();
  const columns = [
    member.accessor("username", {
      header: "User",
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>
          {!row.original.is_active && (
            <span className="ps-tag" data-tone="muted">
              login ended
            </span>
          )}
        </>
      ),
    }),
    member.accessor("role", {
      header: "Role",
      cell: ({ row }) => <Rights role={row.original.role} grants={row.original.grants} />,
    }),
    member.accessor("last_login_at", {
      header: "Last sign-in",
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} fallback="never" />,
    }),
    member.display({
      id: "actions",
      header: () => <span className="ps-sr">Actions</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={`Actions for ${row.original.username}`}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconUserCog size={15} />}
                onClick={() => setChange({ member: row.original, to: "role" })}
              >
                Change role and grants
              </Menu.Item>
              <DeleteItem onClick={() => setChange({ member: row.original, to: "removed" })}>Remove member</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  const invited = [
    invitation.accessor("note", { header: "For", cell: ({ getValue }) => getValue() || "–" }),
    invitation.accessor("role", { header: "Role" }),
    invitation.accessor("state", {
      header: "State",
      cell: ({ getValue }) => <Status tone={TONES[getValue()]} label={getValue()} />,
    }),
    invitation.accessor("expires_at", {
      header: "Ends",
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} />,
    }),
    invitation.display({
      id: "actions",
      header: () => <span className="ps-sr">Actions</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner &&
        row.original.state === "open" && (
          <Button
            variant="subtle"
            size="compact-xs"
            color="red"
            aria-label={`Revoke the invitation for ${row.original.note || row.original.role}`}
            onClick={() => setRevoking(row.original)}
          >
            Revoke
          </Button>
        ),
    }),
  ];
  return (
    <Stack gap="md">
      <Card
        title="Members"
        aside={
          isOwner && (
            <Button leftSection={<IconMailForward size={15} />} onClick={() => setInviting(true)}>
              Invite
            </Button>
          )
        }
      >
        <ListView query={members}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(row) => row.username}
              label="Members"
              defaultSort="username"
              empty={
                <Empty title="Nobody belongs to this tenant">Operators of the platform add the first owner.</Empty>
              }
            />
          )}
        </ListView>
      </Card>
      <Card title="Invitations">
        <ListView query={invitations}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={invited}
              rowId={(row) => row.id}
              label="Invitations"
              empty={
                <Empty title="No invitations yet">
                  An invitation is a link that you pass on yourself; the first to open it becomes a member.
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {inviting && (
        <InviteForm
          onClose={() => setInviting(false)}
          onMade={(path) => {
            setInviting(false);
            setOnce({
              title: "Invitation",
              label: "Link",
              text: linkOf(path),
              hint: "The first to open it becomes a member.",
            });
          }}
        />
      )}
      {change?.to === "role" && <RoleForm member={change.member} onClose={() => setChange(null)} />}
      {change?.to === "removed" && <RemoveForm member={change.member} onClose={() => setChange(null)} />}
      {revoking && <RevokeForm invitation={revoking} onClose={() => setRevoking(null)} />}
      <ShownOnce once={once} onClose={() => setOnce(null)} />
    </Stack>
  );
}

function RoleSelect({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  return (
    <Select
      label="Role"
      size="sm"
      allowDeselect={false}
      data={ROLES}
      value={value}
      onChange={(role) => role && onChange(role as Role)}
    />
  );
}

function InviteForm({ onClose, onMade }: { onClose: () => void; onMade: (path: string) => void }) {
  const [role, setRole] = useState<Role>("viewer");
  const [note, setNote] = useState("");
  const [days, setDays] = useState("7");
  const send = useChange(() =>
    api.post("/api/v1/invitations", { body: { role, note, lifetime_s: Number(days) * 24 * 3600 } }),
  );
  return (
    <FormModal
      title="Invite a member"
      opened
      onClose={onClose}
      submit="Make the link"
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onMade(made.path) })}
    >
      <RoleSelect value={role} onChange={setRole} />
      <TextInput
        label="Whom it is for"
        description="A note to yourself; nobody else is sent anything."
        size="sm"
        maxLength={200}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Select
        label="Good for"
        size="sm"
        allowDeselect={false}
        data={[
          { value: "1", label: "1 day" },
          { value: "7", label: "7 days" },
          { value: "30", label: "30 days" },
        ]}
        value={days}
        onChange={(value) => value && setDays(value)}
      />
    </FormModal>
  );
}

function RoleForm({
  member: { username, role: present, grants: had, etag },
  onClose,
}: {
  member: Member;
  onClose: () => void;
}) {
  const [role, setRole] = useState<Role>(present);
  const [grants, setGrants] = useState(had);
  const takes = role === "limited" || role === "viewer";
  const given = takes ? grants : [];
  const send = useChange(
    () => api.put("/api/v1/members/{username}", { blanks: { username }, body: { role, grants: given }, ifMatch: etag }),
    () => `${username} is now ${role}${given.length > 0 ? `, with ${plural(given.length, "grant")}` : ""}.`,
  );
  const changed = role !== present || JSON.stringify(given) !== JSON.stringify(had);
  return (
    <FormModal
      title={`Role and grants of ${username}`}
      opened
      onClose={onClose}
      submit="Change"
      ready={changed && given.every(isGrant)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <RoleSelect value={role} onChange={setRole} />
      {takes ? (
        <>
          <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
            {role === "limited"
              ? "Nothing is allowed but what the grants give; without one, nothing at all."
              : "A viewer reads everything; grants add what may be changed."}
          </p>
          <GrantsEditor grants={grants} onChange={setGrants} />
        </>
      ) : (
        had.length > 0 && (
          <p style={{ margin: 0 }}>
            This role is over everything: {plural(had.length, "grant")} beside the old one end.
          </p>
        )
      )}
    </FormModal>
  );
}

function RemoveForm({ member: { username, etag }, onClose }: { member: Member; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/members/{username}", { blanks: { username }, ifMatch: etag }),
    ({ keys_made }) =>
      keys_made.length > 0
        ? `${username} was removed. Keys that they made may do nothing until an owner rotates them: ${keys_made.join(", ")}.`
        : `${username} was removed.`,
  );
  return (
    <FormModal
      title={`Remove ${username}`}
      opened
      onClose={onClose}
      submit="Remove member"
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>
        Access ends at once, and with it the invitations that they made and what API keys that they made may do. Those
        keys are named afterwards; an owner takes one over by rotating it, which is best done before.
      </p>
    </FormModal>
  );
}

function RevokeForm({ invitation: { id, etag }, onClose }: { invitation: Invitation; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/invitations/{invitation_id}", { blanks: { invitation_id: id }, ifMatch: etag }),
    () => "The invitation was revoked.",
  );
  return (
    <FormModal
      title="Revoke the invitation"
      opened
      onClose={onClose}
      submit="Revoke"
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>Its link opens nothing any more.</p>
    </FormModal>
  );
}
