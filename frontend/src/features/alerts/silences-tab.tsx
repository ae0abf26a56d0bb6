import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconBellOff, IconCalendarTime, IconDots } from "@tabler/icons-react";
import { createColumnHelper } from "@tanstack/react-table";
import { useState } from "react";
import { Card } from "@/components/card";
import { DataTable } from "@/components/data-table";
import { Empty } from "@/components/empty";
import { ListView } from "@/components/list-view";
import { DeleteItem } from "@/components/more-menu";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status, type Tone } from "@/components/status";
import { useSilences } from "@/lib/alerts";
import { useSession } from "@/lib/session";
import type { Silence } from "@/lib/types";
import { useOverview } from "@/lib/use-clusters";
import { ChangeSilence, EndSilence, SilenceForm } from "./silence-form";

const STATES: Record<Silence["state"], [tone: Tone, label: string]> = {
  planned: ["muted", "Planned"],
  active: ["run", "Active"],
  over: ["muted", "Over"],
};
const RANK: Record<Silence["state"], number> = { active: 0, planned: 1, over: 2 };

type Form = { kind: "new" } | { kind: "change"; silence: Silence } | { kind: "end"; silence: Silence } | null;

const column = createColumnHelper<Silence>();

function matched(silence: Silence, clusters: Map<string, string>): string {
  const parts = [
    silence.rule,
    silence.cluster_id && `cluster ${clusters.get(silence.cluster_id) ?? silence.cluster_id}`,
    silence.subject && `${silence.subject}${silence.match === "prefix" ? "…" : ""}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "every alert";
}

const lastsS = (silence: Silence): number => (Date.parse(silence.ends_at) - Date.parse(silence.starts_at)) / 1000;

/** Silences and maintenance windows, those that are over too. */
export function SilencesTab() {
  const query = useSilences();
  const { data: session } = useSession();
  const canWrite = session?.can_write_tenant === true;
  const found = useOverview().data?.parts.clusters.data ?? [];
  const clusters = new Map(found.map((cluster) => [cluster.id, cluster.name]));
  const [form, setForm] = useState<Form>(null);
  const close = () => setForm(null);
  const columns = [
    column.accessor((silence) => RANK[silence.state], {
      id: "state",
      header: "State",
      cell: ({ row }) => {
        const [tone, label] = STATES[row.original.state];
        return <Status tone={tone} label={label} />;
      },
    }),
    column.accessor((silence) => matched(silence, clusters), {
      id: "what",
      header: "Silences",
      cell: ({ row, getValue }) => (
        <div style={{ overflowWrap: "anywhere", padding: "3px 0" }}>
          <div>
            <span className="ps-mono">{getValue()}</span>
            {row.original.planned && (
              <span className="ps-tag" data-tone="muted">
                maintenance
              </span>
            )}
          </div>
          <div className="ps-muted" style={{ fontSize: "0.75rem" }}>
            {row.original.reason}
          </div>
        </div>
      ),
    }),
    column.accessor("starts_at", {
      header: "From",
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} />,
    }),
    column.accessor("ends_at", { header: "Until", cell: ({ getValue }) => <RelTime at={getValue()} /> }),
    column.accessor(lastsS, {
      id: "lasts",
      header: "Lasts",
      meta: { hideBelow: "md", align: "right" },
      cell: ({ getValue }) => <Quantity of="span" value={getValue()} />,
    }),
    column.accessor("created_by", {
      header: "By",
      meta: { hideBelow: "md" },
      cell: ({ row: { original: silence } }) => (
        <>
          <span className="ps-mono">{silence.created_by}</span>
          {silence.ended_by && <span className="ps-muted">, ended by {silence.ended_by}</span>}
        </>
      ),
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">Actions</span>,
      meta: { align: "right" },
      cell: ({ row: { original: silence } }) =>
        canWrite &&
        silence.state !== "over" && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={`Actions for the silence of ${matched(silence, clusters)}`}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconCalendarTime size={15} />}
                onClick={() => setForm({ kind: "change", silence })}
              >
                Change
              </Menu.Item>
              <DeleteItem onClick={() => setForm({ kind: "end", silence })}>End now</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <>
      <Card
        title="Silences and maintenance windows"
        aside={
          canWrite && (
            <Button leftSection={<IconBellOff size={15} />} onClick={() => setForm({ kind: "new" })}>
              New silence
            </Button>
          )
        }
      >
        <ListView query={query}>
          {(rows) => (
            <DataTable
              rows={rows}
              columns={columns}
              rowId={(silence) => silence.id}
              label="Silences"
              defaultSort="state"
              empty={
                <Empty icon={<IconBellOff size={20} />} title="Nothing is silenced">
                  A silence tells nobody of matching alerts for a while; the alerts are kept. Planned ahead it is a
                  maintenance window.
                </Empty>
              }
            />
          )}
        </ListView>
      </Card>
      {form?.kind === "new" && <SilenceForm onClose={close} />}
      {form?.kind === "change" && <ChangeSilence silence={form.silence} onClose={close} />}
      {form?.kind === "end" && <EndSilence silence={form.silence} onClose={close} />}
    </>
  );
}
