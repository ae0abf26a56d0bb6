import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createColumnHelper } from "@tanstack/react-table";
import type { ReactNode } from "react";
import { useChange } from "@/lib/administration";
import { type Doors, TENANT } from "@/lib/destinations";
import { formatInteger } from "@/lib/format";
import { showProblem } from "@/lib/problem-notice";
import { useSession } from "@/lib/session";
import type { Delivery } from "@/lib/types";
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/late-parts";
import { stateWord } from "./alert-marks";
import { DataTable, type TableView } from "./data-table";
import { RelTime } from "./rel-time";
import { Status, type Tone } from "./status";

const say = words.deliveryTable;

const STATES: Record<Delivery["state"], [tone: Tone, label: string, hint: string]> = {
  pending: ["run", say.waiting, say.itWasNotTriedYet],
  retrying: ["warn", say.retrying, say.theLastAttemptFailedIt],
  sent: ["ok", say.sent, say.theDestinationHasTakenIt],
  dead: ["bad", say.deadLetter, say.itIsNotTriedAgain],
};

const column = createColumnHelper<Delivery>();

function Outcome({ row }: { row: Delivery }) {
  if (row.state === "sent") return <span className="ps-muted">{say.taken(<RelTime at={row.ended_at} />)}</span>;
  if (row.error_code === "") return <span className="ps-muted">{say.notTriedYet}</span>;
  return (
    <span style={{ overflowWrap: "anywhere" }}>
      {row.error_text || row.error_code}
      {row.status !== null && <span className="ps-muted"> {say.http(row.status)}</span>}
      {row.next_try_at && row.state !== "dead" && (
        <span className="ps-muted">{say.nextTry(<RelTime at={row.next_try_at} />)}</span>
      )}
    </span>
  );
}

function Resend({ delivery, doors }: { delivery: Delivery; doors: Doors }) {
  const send = useChange(
    () => doors.resend(delivery.id),
    () => say.itIsSentAgain,
  );
  return (
    <Button
      variant="default"
      size="compact-xs"
      leftSection={<IconRefresh size={13} />}
      aria-label={say.sendAgain(delivery.id)}
      loading={send.isPending}
      onClick={() => send.mutate(undefined, { onError: showProblem })}
    >
      {say.sendAgain2}
    </Button>
  );
}

const columns = (ofAlert: boolean, canWrite: boolean, doors: Doors) => [
  column.accessor("state", {
    header: say.state,
    cell: ({ getValue }) => {
      const [tone, label, hint] = STATES[getValue()];
      return <Status tone={tone} label={label} hint={hint} />;
    },
  }),
  column.accessor("created_at", {
    header: say.made,
    meta: { hideBelow: "sm" },
    cell: ({ getValue }) => <RelTime at={getValue()} />,
  }),
  column.accessor("destination_name", {
    header: say.to,
    cell: ({ row, getValue }) => (
      <>
        {getValue()}
        <div className="ps-only-sm" style={{ fontSize: "0.75rem" }}>
          {!ofAlert && (
            <div className="ps-muted">
              <span title={row.original.rule}>{ruleTitle(row.original.rule)}</span>,{" "}
              <RelTime at={row.original.created_at} />
            </div>
          )}
          <Outcome row={row.original} />
        </div>
      </>
    ),
  }),
  column.accessor("summary", {
    header: say.notification,
    meta: { hideBelow: "sm" },
    cell: ({ row: { original: row } }) => {
      const said = stateWord(row.event_state).toLowerCase();
      if (ofAlert) return said;
      return (
        <span style={{ overflowWrap: "anywhere" }}>
          <span className="ps-muted">{said}: </span>
          {doors.owner === "tenant" ? (
            <Link to="/alerts/$alertId" params={{ alertId: row.alert_id }} className="ps-link">
              {row.summary || ruleTitle(row.rule)}
            </Link>
          ) : (
            row.summary || ruleTitle(row.rule)
          )}
        </span>
      );
    },
  }),
  column.accessor("attempts", {
    header: say.attempts,
    meta: { align: "right", hideBelow: "sm" },
    cell: ({ getValue }) => formatInteger(getValue()),
  }),
  column.display({
    id: "outcome",
    header: say.result,
    meta: { hideBelow: "sm" },
    cell: ({ row }) => <Outcome row={row.original} />,
  }),
  column.display({
    id: "actions",
    header: () => <span className="ps-sr">{say.actions}</span>,
    meta: { align: "right" },
    cell: ({ row }) => canWrite && row.original.state === "dead" && <Resend delivery={row.original} doors={doors} />,
  }),
];

interface DeliveryTableProps {
  deliveries: Delivery[];
  /** All of one alert, which need not be named in each row. */
  ofAlert?: boolean;
  /** Whose they are: pages of alerts are tenants' alone. */
  doors?: Doors;
  view?: TableView;
  onView?: (view: TableView) => void;
  empty: ReactNode;
}

/** Deliveries, the newest first; dead letters can be sent again. */
export function DeliveryTable({
  deliveries,
  ofAlert = false,
  doors = TENANT,
  view,
  onView,
  empty,
}: DeliveryTableProps) {
  const { data: session } = useSession();
  const canWrite = doors.owner === "operators" || session?.can_write_tenant === true;
  return (
    <DataTable
      rows={deliveries}
      columns={columns(ofAlert, canWrite, doors)}
      rowId={(row) => row.id}
      label={say.deliveries}
      defaultSort="-created_at"
      view={view}
      onView={onView}
      empty={empty}
    />
  );
}
