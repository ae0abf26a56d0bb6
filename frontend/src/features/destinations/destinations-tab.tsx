import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconAdjustments, IconDots, IconListDetails, IconPlugConnected, IconPlus, IconSend } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { SeverityMark } from "@/components/alert-marks";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { FormModal } from "@/components/form-modal";
import { ListView } from "@/components/list-view";
import { DeleteItem } from "@/components/more-menu";
import { RelTime } from "@/components/rel-time";
import { Status } from "@/components/status";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { addressOf, KINDS, useDestinations } from "@/lib/destinations";
import { plural } from "@/lib/format";
import { useSession } from "@/lib/session";
import type { Destination } from "@/lib/types";
import { DestinationForm } from "./destination-form";
import { TestDestination } from "./test-destination";

type Form = { kind: "new" } | { kind: "change" | "delete" | "test"; destination: Destination } | null;

const column = createColumnHelper<Destination>();

function Health({ row }: { row: Destination }) {
  if (!row.enabled) return <Status tone="muted" label="Off" hint="Nothing is sent; what waits stays for a day." />;
  if (row.failures > 0)
    return (
      <>
        <Status tone="bad" label="Failing" hint={row.last_error || undefined} />
        <div className="ps-muted" style={{ fontSize: "0.75rem", overflowWrap: "anywhere" }}>
          {plural(row.failures, "failed attempt")}, last <RelTime at={row.last_failed_at} />
        </div>
      </>
    );
  if (row.last_sent_at === null)
    return (
      <Status tone="muted" label="Not used yet" hint="Nothing was sent there, so nobody knows whether it works." />
    );
  return (
    <>
      <Status tone="ok" label="Works" />
      <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
        last sent <RelTime at={row.last_sent_at} />
      </div>
    </>
  );
}

function filters(row: Destination): string {
  return [
    row.rules.length > 0 ? plural(row.rules.length, "rule") : "every rule",
    row.clusters.length > 0 ? plural(row.clusters.length, "cluster") : "every cluster",
    ...(row.send_resolved ? [] : ["not when resolved"]),
  ].join(", ");
}

export function DestinationsTab({ onDeliveries }: { onDeliveries: (destinationId: string) => void }) {
  const query = useDestinations();
  const { data: session } = useSession();
  const canWrite = session?.can_write_tenant === true;
  const [form, setForm] = useState<Form>(null);
  const close = () => setForm(null);
  const columns = [
    column.accessor("name", {
      header: "Destination",
      cell: ({ row: { original: row } }) => (
        <div style={{ padding: "3px 0" }}>
          <div style={{ fontWeight: 520 }}>{row.name}</div>
          <div className="ps-muted ps-only-sm" style={{ fontSize: "0.75rem" }}>
            {KINDS[row.kind].label}
          </div>
        </div>
      ),
    }),
    column.accessor((row) => KINDS[row.kind].label, { id: "kind", header: "Kind", meta: { hideBelow: "sm" } }),
    column.accessor(addressOf, {
      id: "address",
      header: "Address",
      meta: { hideBelow: "md" },
      cell: ({ getValue }) => <span className="ps-mono ps-muted">{getValue()}</span>,
    }),
    column.accessor("min_severity", {
      header: "Minimum severity",
      meta: { hideBelow: "sm" },
      cell: ({ row: { original: row } }) => (
        <>
          <SeverityMark severity={row.min_severity} />
          <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
            {filters(row)}
          </div>
        </>
      ),
    }),
    column.accessor("failures", { header: "State", cell: ({ row }) => <Health row={row.original} /> }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">Actions</span>,
      meta: { align: "right" },
      cell: ({ row: { original: row } }) => (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon size="sm" aria-label={`Actions for ${row.name}`}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconListDetails size={15} />} onClick={() => onDeliveries(row.id)}>
              Deliveries
            </Menu.Item>
            {canWrite && (
              <>
                <Menu.Item
                  leftSection={<IconPlugConnected size={15} />}
                  onClick={() => setForm({ kind: "test", destination: row })}
                >
                  Test
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconAdjustments size={15} />}
                  onClick={() => setForm({ kind: "change", destination: row })}
                >
                  Change
                </Menu.Item>
                <Menu.Divider />
                <DeleteItem onClick={() => setForm({ kind: "delete", destination: row })}>Delete</DeleteItem>
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
        title="Destinations"
        aside={
          canWrite && (
            <Button leftSection={<IconPlus size={15} />} onClick={() => setForm({ kind: "new" })}>
              New destination
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
              label="Destinations"
              defaultSort="name"
              empty={
                <Empty icon={<IconSend size={20} />} title="No destinations yet">
                  Alerts are shown here in the console. A destination also sends them: to a webhook, by mail, to Slack,
                  PagerDuty or Alertmanager.
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "new" && <DestinationForm onClose={close} />}
      {form?.kind === "change" && <DestinationForm destination={form.destination} onClose={close} />}
      {form?.kind === "test" && <TestDestination destination={form.destination} onClose={close} />}
      {form?.kind === "delete" && <DeleteDestination destination={form.destination} onClose={close} />}
    </>
  );
}

function DeleteDestination({ destination, onClose }: { destination: Destination; onClose: () => void }) {
  const send = useChange(
    () =>
      api.delete("/api/v1/destinations/{destination_id}", {
        blanks: { destination_id: destination.id },
        ifMatch: destination.etag,
      }),
    () => `The destination ${destination.name} was deleted.`,
  );
  return (
    <FormModal
      title={`Delete ${destination.name}`}
      opened
      danger
      onClose={onClose}
      submit="Delete"
      pending={send.isPending}
      error={send.error}
      onSubmit={() => send.mutate(undefined, { onSuccess: onClose })}
    >
      <p style={{ margin: 0 }}>Its deliveries are deleted with it, also those that wait.</p>
    </FormModal>
  );
}
