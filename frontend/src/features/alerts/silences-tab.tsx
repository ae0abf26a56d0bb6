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
import { ruleTitle } from "@/lib/rule-names";
import { words } from "@/words/alerts";
import { ChangeSilence, EndSilence, SilenceForm } from "./silence-form";

const say = words.silencesTab;

const STATES: Record<Silence["state"], [tone: Tone, label: string]> = {
  planned: ["muted", say.planned],
  active: ["run", say.active],
  over: ["muted", say.over],
};
const RANK: Record<Silence["state"], number> = { active: 0, planned: 1, over: 2 };

type Form = { kind: "new" } | { kind: "change"; silence: Silence } | { kind: "end"; silence: Silence } | null;

const column = createColumnHelper<Silence>();

function matched(silence: Silence, clusters: Map<string, string>): string {
  const parts = [
    silence.rule && ruleTitle(silence.rule),
    silence.cluster_id && say.cluster(clusters.get(silence.cluster_id) ?? silence.cluster_id),
    silence.subject && `${silence.subject}${silence.match === "prefix" ? "…" : ""}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : say.everyAlert;
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
      header: say.state,
      cell: ({ row }) => {
        const [tone, label] = STATES[row.original.state];
        return <Status tone={tone} label={label} />;
      },
    }),
    column.accessor((silence) => matched(silence, clusters), {
      id: "what",
      header: say.silences,
      cell: ({ row, getValue }) => (
        <div style={{ overflowWrap: "anywhere", padding: "3px 0" }}>
          <div>
            <span className="ps-mono">{getValue()}</span>
            {row.original.planned && (
              <span className="ps-tag" data-tone="muted">
                {say.maintenance}
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
      header: say.from,
      meta: { hideBelow: "sm" },
      cell: ({ getValue }) => <RelTime at={getValue()} />,
    }),
    column.accessor("ends_at", { header: say.until, cell: ({ getValue }) => <RelTime at={getValue()} /> }),
    column.accessor(lastsS, {
      id: "lasts",
      header: say.lasts,
      meta: { hideBelow: "md", align: "right" },
      cell: ({ getValue }) => <Quantity of="span" value={getValue()} />,
    }),
    column.accessor("created_by", {
      header: say.by,
      meta: { hideBelow: "md" },
      cell: ({ row: { original: silence } }) => (
        <>
          <span className="ps-mono">{silence.created_by}</span>
          {silence.ended_by && <span className="ps-muted">{say.endedBy(silence.ended_by)}</span>}
        </>
      ),
    }),
    column.display({
      id: "actions",
      header: () => <span className="ps-sr">{say.actions}</span>,
      meta: { align: "right" },
      cell: ({ row: { original: silence } }) =>
        canWrite &&
        silence.state !== "over" && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="sm" aria-label={say.actionsForTheSilenceOf(matched(silence, clusters))}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconCalendarTime size={15} />}
                onClick={() => setForm({ kind: "change", silence })}
              >
                {say.change}
              </Menu.Item>
              <DeleteItem onClick={() => setForm({ kind: "end", silence })}>{say.endNow}</DeleteItem>
            </Menu.Dropdown>
          </Menu>
        ),
    }),
  ];
  return (
    <>
      <Card
        title={say.silencesAndMaintenanceWindows}
        aside={
          canWrite && (
            <Button leftSection={<IconBellOff size={15} />} onClick={() => setForm({ kind: "new" })}>
              {say.newSilence}
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
              label={say.silences}
              defaultSort="state"
              empty={
                <Empty icon={<IconBellOff size={20} />} title={say.nothingIsSilenced}>
                  {say.aSilenceTellsNobodyOf}
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
