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
import { isGrant, roleChoices, roleWord } from "@/lib/grant-words";
import { linkOf, useChange, useInvitations, useMembers } from "@/lib/administration";
import { api } from "@/lib/api-client";
import type { Invitation, Member, Role } from "@/lib/types";
import { words } from "@/words/settings";
import { GrantsEditor } from "./grants-editor";
import { Rights } from "./rights";

const say = words.membersTab;

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
      header: say.user,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>
          {!row.original.is_active && (
            <span className="ps-tag" data-tone="muted">
              {say.loginEnded}
            </span>
          )}
        </>
      ),
    }),
    member.accessor("role", {
      header: say.role,
      cell: ({ row }) => <Rights role={row.original.role} grants={row.original.grants} />,
    }),
    member.accessor("last_login_at", {
      header: say.lastSignIn,
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} fallback={say.never} />,
    }),
    member.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsFor(row.original.username)}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconUserCog size={15} />}
                onClick={() => setChange({ member: row.original, to: "role" })}
              >
                {say.changeRoleAndGrants}
              </Menu.Item>
              <DeleteItem onClick={() => setChange({ member: row.original, to: "removed" })}>
                {say.removeMember}
              </DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  const invited = [
    invitation.accessor("note", { header: say.forWord, cell: ({ getValue }) => getValue() || "–" }),
    invitation.accessor("role", { header: say.role, cell: ({ getValue }) => roleWord(getValue()) }),
    invitation.accessor("state", {
      header: say.state,
      cell: ({ getValue }) => <Status tone={TONES[getValue()]} label={say.states[getValue()]} />,
    }),
    invitation.accessor("expires_at", {
      header: say.ends,
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} />,
    }),
    invitation.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        isOwner &&
        row.original.state === "open" && (
          <Button
            variant="subtle"
            size="compact-xs"
            color="red"
            aria-label={say.revokeTheInvitationFor(row.original.note || roleWord(row.original.role))}
            onClick={() => setRevoking(row.original)}
          >
            {say.revoke}
          </Button>
        ),
    }),
  ];
  return (
    <Stack gap="md">
      <Card
        title={say.members}
        aside={
          isOwner && (
            <Button leftSection={<IconMailForward size={15} />} onClick={() => setInviting(true)}>
              {say.invite}
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
              label={say.members}
              defaultSort="username"
              empty={<Empty title={say.nobodyBelongsToThisTenant}>{say.operatorsOfThePlatformAdd}</Empty>}
            />
          )}
        </ListView>
      </Card>
      <Card title={say.invitations}>
        <ListView query={invitations}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={invited}
              rowId={(row) => row.id}
              label={say.invitations}
              empty={<Empty title={say.noInvitationsYet}>{say.anInvitationIsALink}</Empty>}
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
              title: say.invitation,
              label: say.link,
              text: linkOf(path),
              hint: say.theFirstToOpenIt,
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
      label={say.role}
      size="sm"
      allowDeselect={false}
      data={roleChoices()}
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
      title={say.inviteAMember}
      opened
      onClose={onClose}
      submit={say.makeTheLink}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: (made) => onMade(made.path) })}
    >
      <RoleSelect value={role} onChange={setRole} />
      <TextInput
        label={say.whomItIsFor}
        description={say.aNoteToYourselfNobody}
        size="sm"
        maxLength={200}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <Select
        label={say.goodFor}
        size="sm"
        allowDeselect={false}
        data={[
          { value: "1", label: say.n1Day },
          { value: "7", label: say.n7Days },
          { value: "30", label: say.n30Days },
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
    () => say.isNow(username, roleWord(role), given.length > 0 ? say.withGrants(given.length) : ""),
  );
  const changed = role !== present || JSON.stringify(given) !== JSON.stringify(had);
  return (
    <FormModal
      title={say.roleAndGrantsOf(username)}
      opened
      onClose={onClose}
      submit={say.change}
      ready={changed && given.every(isGrant)}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <RoleSelect value={role} onChange={setRole} />
      {takes ? (
        <>
          <p className="ps-muted" style={{ margin: 0, fontSize: "0.8125rem" }}>
            {role === "limited" ? say.nothingIsAllowedButWhat : say.aViewerReadsEverythingGrants}
          </p>
          <GrantsEditor grants={grants} onChange={setGrants} />
        </>
      ) : (
        had.length > 0 && <p style={{ margin: 0 }}>{say.thisRoleIsOverEverything(had.length)}</p>
      )}
    </FormModal>
  );
}

function RemoveForm({ member: { username, etag }, onClose }: { member: Member; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/members/{username}", { blanks: { username }, ifMatch: etag }),
    ({ keys_made }) =>
      keys_made.length > 0 ? say.wasRemovedKeysThatThey(username, keys_made.join(", ")) : say.wasRemoved(username),
  );
  return (
    <FormModal
      title={say.remove(username)}
      opened
      onClose={onClose}
      submit={say.removeMember}
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.accessEndsAtOnceAnd}</p>
    </FormModal>
  );
}

function RevokeForm({ invitation: { id, etag }, onClose }: { invitation: Invitation; onClose: () => void }) {
  const send = useChange(
    () => api.delete("/api/v1/invitations/{invitation_id}", { blanks: { invitation_id: id }, ifMatch: etag }),
    () => say.theInvitationWasRevoked,
  );
  return (
    <FormModal
      title={say.revokeTheInvitation}
      opened
      onClose={onClose}
      submit={say.revoke}
      danger
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.itsLinkOpensNothingAny}</p>
    </FormModal>
  );
}
