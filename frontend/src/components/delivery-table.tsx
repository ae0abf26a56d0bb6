import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { formatInteger } from "@/lib/format";
import { toProblem } from "@/lib/problem";
import { useSession } from "@/lib/session";
import type { Delivery } from "@/lib/types";
import { stateWord } from "./alert-marks";
import { DataTable, type TableView } from "./data-table";
import { RelTime } from "./rel-time";
import { Status, type Tone } from "./status";

const STATES: Record<Delivery["state"], [tone: Tone, label: string, hint: string]> = {
  pending: ["run", "Waiting", "It was not tried yet."],
  retrying: ["warn", "Retrying", "The last attempt failed; it is tried again by itself."],
  sent: ["ok", "Sent", "The destination has taken it."],
  dead: ["bad", "Dead letter", "It is not tried again unless somebody sends it again."],
};

const column = createColumnHelper<Delivery>();

function Outcome({ row }: { row: Delivery }) {
  if (row.state === "sent")
    return (
      <span className="ps-muted">
        taken <RelTime at={row.ended_at} />
      </span>
    );
  if (row.error_code === "") return <span className="ps-muted">not tried yet</span>;
  return (
    <span style={{ overflowWrap: "anywhere" }}>
      {row.error_text || row.error_code}
      {row.status !== null && <span className="ps-muted"> (HTTP {row.status})</span>}
      {row.next_try_at && row.state !== "dead" && (
        <span className="ps-muted">
          , next try <RelTime at={row.next_try_at} />
        </span>
      )}
    </span>
  );
}

function Resend({ delivery }: { delivery: Delivery }) {
  const send = useChange(
    () => api.post("/api/v1/deliveries/{delivery_id}/resend", { blanks: { delivery_id: delivery.id } }),
    () => "It is sent again.",
  );
  return (
    <Button
      variant="default"
      size="compact-xs"
      leftSection={<IconRefresh size={13} />}
      aria-label={`Send ${delivery.id} again`}
      loading={send.isPending}
      onClick={() =>
        send.mutate(undefined, {
          onError: (error) => {
            const { title, detail } = toProblem(error);
            notifications.show({ color: "red", title, message: detail ?? "" });
          },
        })
      }
    >
      Send again
    </Button>
  );
}

const columns = (ofAlert: boolean, canWrite: boolean) => [
  column.accessor("state", {
    header: "State",
    cell: ({ getValue }) => {
      const [tone, label, hint] = STATES[getValue()];
      return <Status tone={tone} label={label} hint={hint} />;
    },
  }),
  column.accessor("created_at", {
    header: "Made",
    meta: { hideBelow: "sm" },
    cell: ({ getValue }) => <RelTime at={getValue()} />,
  }),
  column.accessor("destination_name", {
    header: "To",
    cell: ({ row, getValue }) => (
      <>
        {getValue()}
        <div className="ps-only-sm" style={{ fontSize: "0.75rem" }}>
          {!ofAlert && (
            <div className="ps-muted">
              {row.original.rule}, <RelTime at={row.original.created_at} />
            </div>
          )}
          <Outcome row={row.original} />
        </div>
      </>
    ),
  }),
  column.accessor("summary", {
    header: "Notification",
    meta: { hideBelow: "sm" },
    cell: ({ row: { original: row } }) => {
      const said = stateWord(row.event_state).toLowerCase();
      if (ofAlert) return said;
      return (
        <span style={{ overflowWrap: "anywhere" }}>
          <span className="ps-muted">{said}: </span>
          <Link to="/alerts/$alertId" params={{ alertId: row.alert_id }} className="ps-link">
            {row.summary || row.rule}
          </Link>
        </span>
      );
    },
  }),
  column.accessor("attempts", {
    header: "Attempts",
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ getValue }) => formatInteger(getValue()),
  }),
  column.display({
    id: "outcome",
    header: "Result",
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <Outcome row={row.original} />,
  }),
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">Actions</span>,
    meta: { align: "right" },
    cell: ({ row }) => canWrite && row.original.state === "dead" && <Resend delivery={row.original} />,
  }),
];

interface DeliveryTableProps {
  deliveries: Delivery[];
  /** All of one alert, which need not be named in each row. */
  ofAlert?: boolean;
  view?: TableView;
  onView?: (view: TableView) => void;
  empty: ReactNode;
}

/** Deliveries, the newest first; dead letters can be sent again. */
export function DeliveryTable({ deliveries, ofAlert = false, view, onView, empty }: DeliveryTableProps) {
  const { data: session } = useSession();
  return (
    <DataTable
      rows={deliveries}
      columns={columns(ofAlert, session?.can_write_tenant === true)}
      rowId={(row) => row.id}
      label="Deliveries"
      defaultSort="-created_at"
      view={view}
      onView={onView}
      empty={empty}
    />
  );
}
