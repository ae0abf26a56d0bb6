import { ActionIcon, Menu } from "@mantine/core";
import { IconDots, IconKey, IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { Empty } from "@/components/empty";
import { DataTable, type TableView } from "@/components/data-table";
import { DeleteItem } from "@/components/more-menu";
import { SearchBox } from "@/components/search-box";
import { Status } from "@/components/status";
import { RelTime } from "@/components/rel-time";
import { differenceText } from "@/lib/differences";
import type { AccessDriftPage, KafkaUser, ListCounts, PasswordOverlap } from "@/lib/types";
import { words } from "@/words/access";
import { aclSummary } from "@/lib/acl-words";

const say = words.userTable;

/** The server's orders. */
export const USER_SORTS = ["username"] as const;

interface UserTableProps {
  users: KafkaUser[];
  counts: ListCounts | null | undefined;
  view: TableView & { q?: string };
  onView: (view: TableView & { q?: string }) => void;
  overlaps: PasswordOverlap[];
  changed: AccessDriftPage["changed_users"];
  canWrite: boolean;
  onAddAcls: (username: string) => void;
  onRotate: (username: string) => void;
  /** Removes the old one of two passwords. */
  onEndOverlap: (overlap: PasswordOverlap) => void;
  onDelete: (username: string) => void;
  empty: ReactNode;
}

const column = createColumnHelper<KafkaUser>();

export function UserTable({
  users,
  counts,
  view,
  onView,
  overlaps,
  changed,
  canWrite,
  onAddAcls,
  onRotate,
  onEndOverlap,
  onDelete,
  empty,
}: UserTableProps) {
  const overlapOf = (user: KafkaUser) => overlaps.find((one) => one.username === user.username);
  const driftOf = (user: KafkaUser) => changed.find((row) => row.username === user.username);
  const columns = [
    column.accessor("username", {
      header: say.user,
      cell: ({ row, getValue }) => (
        <>
          <span className="ps-mono">{getValue()}</span>
          {row.original.managed && (
            <span className="ps-tag ps-hide-sm" data-tone="muted">
              {say.service}
            </span>
          )}
          <Overlap overlap={overlapOf(row.original)} />
          <Drift drift={driftOf(row.original)} />
        </>
      ),
    }),
    column.display({
      id: "mechanisms",
      header: say.signsInWith,
      cell: ({ row }) => row.original.mechanisms.join(", "),
      meta: { hideBelow: "sm" },
    }),
    column.display({
      id: "acls",
      header: say.may,
      cell: ({ row }) => <May user={row.original} />,
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row }) =>
        canWrite &&
        !row.original.managed && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsFor(row.original.username)}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconKey size={15} />} onClick={() => onAddAcls(row.original.username)}>
                {say.addAcls}
              </Menu.Item>
              <Menu.Item leftSection={<IconRefresh size={15} />} onClick={() => onRotate(row.original.username)}>
                {say.newPassword}
              </Menu.Item>
              <EndItem overlap={overlapOf(row.original)} onEnd={onEndOverlap} />
              <Menu.Divider />
              <DeleteItem onClick={() => onDelete(row.original.username)}>{say.deleteUser}</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <>
      <div className="ps-toolbar">
        <SearchBox
          value={view.q ?? ""}
          label={say.searchUsers}
          onChange={(q) => onView({ ...view, q: q || undefined, page: undefined })}
        />
      </div>
      <DataTable
        rows={users}
        paged={counts ?? undefined}
        columns={columns}
        rowId={(row) => row.username}
        label={say.users}
        defaultSort="username"
        view={view}
        onView={onView}
        empty={view.q ? <Empty title={say.noUserMatches}>{say.searchForLess}</Empty> : empty}
      />
    </>
  );
}

/** What the user's ACLs allow in words, of many the first. */
function May({ user: { managed, rules } }: { user: KafkaUser }) {
  if (managed) return <span className="ps-muted">{say.everything}</span>;
  if (rules === null) return <span className="ps-muted">{say.notKnown}</span>;
  if (rules.count === 0) return <span className="ps-warn">{say.nothingYet}</span>;
  const more = rules.count - rules.first.length;
  return (
    <span title={say.rules(rules.count)}>
      {aclSummary(rules.first)}
      {more > 0 && say.andMore(more)}
      {rules.denies > 0 && <span className="ps-tag ps-bad">{say.deny}</span>}
    </span>
  );
}

/** That the user was changed outside, and how. */
function Drift({ drift }: { drift: AccessDriftPage["changed_users"][number] | undefined }) {
  if (!drift) return null;
  return (
    <div style={{ fontSize: "0.8125rem" }}>
      <Status tone="warn" label={say.changedOutside} hint={differenceText(drift)} />
    </div>
  );
}

/** That two passwords stand, until when, and why no longer by itself. */
function Overlap({ overlap }: { overlap: PasswordOverlap | undefined }) {
  if (!overlap) return null;
  return (
    <div className="ps-muted" style={{ fontSize: "0.8125rem" }}>
      {say.twoPasswords(overlap.old_mechanism, overlap.new_mechanism)}{" "}
      {overlap.state === "held" ? (
        <span className="ps-warn">{say.oldOneIsHeld(overlap.problem)}</span>
      ) : (
        <>
          {say.oldOneEnds(<RelTime at={overlap.ends_at} />)}
          {overlap.problem && <span className="ps-warn">{say.lastTry(overlap.problem)}</span>}
        </>
      )}
    </div>
  );
}

function EndItem({ overlap, onEnd }: { overlap: PasswordOverlap | undefined; onEnd: (one: PasswordOverlap) => void }) {
  if (!overlap) return null;
  return (
    <Menu.Item leftSection={<IconPlayerStop size={15} />} onClick={() => onEnd(overlap)}>
      {say.endTheOldPassword}
    </Menu.Item>
  );
}
