import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconAdjustments, IconDots, IconListDetails, IconPlugConnected, IconPlus, IconSend } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { useChange } from "@/lib/administration";
import { addressOf, destinationWords, type Doors, TENANT, useDestinations } from "@/lib/destinations";
import { useSession } from "@/lib/session";
import type { Destination } from "@/lib/types";
import { words } from "@/words/destinations";
import { SeverityMark } from "./alert-marks";
import { Card } from "./card";
import { DataTable } from "./data-table";
import { DestinationForm } from "./destination-form";
import { Empty } from "./empty";
import { FormModal } from "./form-modal";
import { ListView } from "./list-view";
import { DeleteItem } from "./more-menu";
import { RelTime } from "./rel-time";
import { Status } from "./status";
import { TestDestination } from "./test-destination";

const say = words.destinationsTab;

type Form = { kind: "new" } | { kind: "change" | "delete" | "test"; destination: Destination } | null;

const column = createColumnHelper<Destination>();

function Health({ row }: { row: Destination }) {
  if (!row.enabled) return <Status tone="muted" label={say.off} hint={say.nothingIsSentWhatWaits} />;
  if (row.failures > 0)
    return (
      <>
        <Status tone="bad" label={say.failing} hint={row.last_error || undefined} />
        <div className="ps-muted" style={{ fontSize: "0.75rem", overflowWrap: "anywhere" }}>
          {say.failedAttemptsLast(row.failures, <RelTime at={row.last_failed_at} />)}
        </div>
      </>
    );
  if (row.last_sent_at === null) return <Status tone="muted" label={say.notUsedYet} hint={say.nothingWasSentThereSo} />;
  return (
    <>
      <Status tone="ok" label={say.works} />
      <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
        {say.lastSent(<RelTime at={row.last_sent_at} />)}
      </div>
    </>
  );
}

function filters(row: Destination, isOfClusters: boolean): string {
  const clusters = row.clusters.length > 0 ? say.clusters(row.clusters.length) : say.everyCluster;
  return [
    row.rules.length > 0 ? say.rules(row.rules.length) : say.everyRule,
    ...(isOfClusters ? [clusters] : []),
    ...(row.send_resolved ? [] : [say.notWhenResolved]),
  ].join(", ");
}

interface DestinationListProps {
  /** Whose they are; operators may write theirs. */
  doors?: Doors;
  onDeliveries: (destinationId: string) => void;
}

export function DestinationList({ doors = TENANT, onDeliveries }: DestinationListProps) {
  const query = useDestinations(doors);
  const { data: session } = useSession();
  const canWrite = doors.owner === "operators" || session?.can_write_tenant === true;
  const [form, setForm] = useState<Form>(null);
  const close = () => setForm(null);
  const columns = [
    column.accessor("name", {
      header: say.destination,
      cell: ({ row: { original: row } }) => (
        <div style={{ padding: "3px 0" }}>
          <div style={{ fontWeight: 520 }}>{row.name}</div>
          <div className="ps-muted ps-only-sm" style={{ fontSize: "0.75rem" }}>
            {destinationWords[row.kind].label}
          </div>
        </div>
      ),
    }),
    column.accessor((row) => destinationWords[row.kind].label, {
      id: "kind",
      header: say.kind,
      meta: { hideBelow: "sm" },
    }),
    column.accessor(addressOf, {
      id: "address",
      header: say.address,
      meta: { hideBelow: "md" },
      cell: ({ getValue }) => <span className="ps-mono ps-muted">{getValue()}</span>,
    }),
    column.accessor("min_severity", {
      header: say.minimumSeverity,
      meta: { hideBelow: "sm" },
      cell: ({ row: { original: row } }) => (
        <>
          <SeverityMark severity={row.min_severity} />
          <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
            {filters(row, doors.owner === "tenant")}
          </div>
        </>
      ),
    }),
    column.accessor("failures", { header: say.state, cell: ({ row }) => <Health row={row.original} /> }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={say.actionsFor(row.name)}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconListDetails size={15} />} onClick={() => onDeliveries(row.id)}>
              {say.deliveries}
            </Menu.Item>
            {canWrite && (
              <>
                <Menu.Item
                  leftSection={<IconPlugConnected size={15} />}
                  onClick={() => setForm({ kind: "test", destination: row })}
                >
                  {say.test}
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconAdjustments size={15} />}
                  onClick={() => setForm({ kind: "change", destination: row })}
                >
                  {say.change}
                </Menu.Item>
                <Menu.Divider />
                <DeleteItem onClick={() => setForm({ kind: "delete", destination: row })}>{say.deleteWord}</DeleteItem>
              </>
            )}
          </Menu.Dropdown>
        </Menu>
      ),
    }),
  ];
  return (
    <>
      <Card
        title={say.destinations}
        aside={
          canWrite && (
            <Button leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "new" })}>
              {say.newDestination}
            </Button>
          )
        }
      >
        <ListView query={query}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(row) => row.id}
              label={say.destinations}
              defaultSort="name"
              empty={
                <Empty icon={<IconSend size={20} />} title={say.noDestinationsYet}>
                  {doors.owner === "tenant" ? say.alertsAreShownHereIn : say.alertsAboutHostsAreShown}
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "new" && <DestinationForm doors={doors} onClose={close} />}
      {form?.kind === "change" && <DestinationForm destination={form.destination} doors={doors} onClose={close} />}
      {form?.kind === "test" && <TestDestination destination={form.destination} doors={doors} onClose={close} />}
      {form?.kind === "delete" && <DeleteDestination destination={form.destination} doors={doors} onClose={close} />}
    </>
  );
}

interface DeleteDestinationProps {
  destination: Destination;
  doors: Doors;
  onClose: () => void;
}

function DeleteDestination({ destination, doors, onClose }: DeleteDestinationProps) {
  const send = useChange(
    () => doors.remove(destination),
    () => say.theDestinationWasDeleted(destination.name),
  );
  return (
    <FormModal
      title={say.delete2(destination.name)}
      opened
      danger
      onClose={onClose}
      submit={say.deleteWord}
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>{say.itsDeliveriesAreDeletedWith}</p>
    </FormModal>
  );
}
