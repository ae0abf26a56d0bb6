import { Button, Group } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Breakable } from "@/components/breakable";
import { Card, PartView } from "@/components/card";
import { Notice } from "@/components/notice";
import { PlanFlow } from "@/components/plan-flow";
import { Quantity } from "@/components/quantity";
import { Status } from "@/components/status";
import { formatInteger } from "@/lib/format";
import { kindLabel } from "@/lib/kinds";
import { usePage } from "@/lib/page";
import type { BrokerDirectories, PlanRequest } from "@/lib/types";
import { words } from "@/words/directories";

const say = words.tab;

type Row = BrokerDirectories["rows"][number];

/** All replicas are looked at for it: asked for less often than the page, ms. */
const PACE_MS = 15_000;

interface DirectoriesTabProps {
  clusterId: string;
  broker: string;
  /** Whether the reader may plan something; then the plan has the last word. */
  mayChange: boolean;
}

interface Asked {
  kind: "cluster.add_log_directory" | "cluster.empty_log_directory";
  directory: string;
  remove?: boolean;
}

/** Where the broker has its logs, what is wrong with a directory, and what can be done about it. */
export function DirectoriesTab({ clusterId, broker, mayChange }: DirectoriesTabProps) {
  const query = usePage("directories/{cluster_id}/{broker_id}", { cluster_id: clusterId, broker_id: broker }, PACE_MS);
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <>
      <PartView query={query} name="directories" rows={4}>
        {(found) => (
          <div className="ps-stack">
            <Failure found={found} />
            <Card title={say.directories}>
              <Table found={found} mayChange={mayChange} onAsk={setAsked} />
            </Card>
            {found.managed && (
              <Card title={say.further}>
                <Further found={found} mayChange={mayChange} onAsk={setAsked} />
              </Card>
            )}
          </div>
        )}
      </PartView>
      <PlanFlow
        request={asked && requestFor(asked, clusterId, Number(broker))}
        title={asked ? say.planFor(kindLabel(asked.kind), asked.directory, broker) : ""}
        onClose={() => setAsked(null)}
      />
    </>
  );
}

function requestFor({ kind, directory, remove }: Asked, clusterId: string, broker: number): PlanRequest {
  const about = { directory, brokers: [broker] };
  if (kind === "cluster.add_log_directory") return { kind, cluster_id: clusterId, inputs: about };
  return { kind, cluster_id: clusterId, inputs: { ...about, remove } };
}

function Failure({ found }: { found: BrokerDirectories }) {
  if (!found.rows.some((row) => row.state === "failed")) return null;
  return (
    <Notice tone="bad" title={say.aDirectoryFailed}>
      {found.only_here > 0 ? say.onlyHere(found.only_here) : say.wayOut(found.lost_replicas)}{" "}
      {!found.managed && say.askWhoRunsIt}
    </Notice>
  );
}

interface PartProps {
  found: BrokerDirectories;
  mayChange: boolean;
  onAsk: (asked: Asked) => void;
}

function Table({ found, mayChange, onAsk }: PartProps) {
  const hasActions = mayChange && found.rows.some((row) => row.can_be_emptied || row.can_be_removed);
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.directories}>
        <thead>
          <tr>
            <th scope="col">{say.directory}</th>
            <th scope="col">{say.state}</th>
            <th scope="col">{say.free}</th>
            <th scope="col">{say.replicas}</th>
            <th scope="col">{say.size}</th>
            {hasActions && <th scope="col">{say.actions}</th>}
          </tr>
        </thead>
        <tbody>
          {found.rows.map((row) => (
            <tr key={row.path}>
              <td>
                <Breakable text={row.name} />
                {row.path !== row.name && (
                  <div className="ps-muted ps-mono" style={{ overflowWrap: "anywhere" }}>
                    {row.path}
                  </div>
                )}
              </td>
              <td>
                <State row={row} />
              </td>
              <td>
                <Free free={row.usable_bytes} total={row.total_bytes} />
              </td>
              <td className="ps-tnum">
                {formatInteger(row.replicas)}
                {row.arriving > 0 && <div className="ps-muted">{say.arriving(row.arriving)}</div>}
              </td>
              <td>
                <Quantity of="bytes" value={row.size_bytes} />
              </td>
              {hasActions && (
                <td>
                  <Actions row={row} onAsk={onAsk} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function State({ row }: { row: Row }) {
  const isFailed = row.state === "failed";
  return (
    <>
      <Status
        tone={isFailed ? "bad" : "ok"}
        label={isFailed ? say.failed : say.working}
        hint={isFailed ? say.failedHint : undefined}
      />
      {row.error && <div className="ps-muted ps-mono">{row.error}</div>}
      {row.problem && <div className="ps-warn">{row.problem}</div>}
    </>
  );
}

function Free({ free, total }: { free: number | null; total: number | null }): ReactNode {
  if (free === null) return <span className="ps-muted">{say.notSaid}</span>;
  if (total === null) return <Quantity of="bytes" value={free} />;
  return <>{say.of(<Quantity of="bytes" value={free} />, <Quantity of="bytes" value={total} />)}</>;
}

function Actions({ row, onAsk }: { row: Row; onAsk: (asked: Asked) => void }) {
  const kind = "cluster.empty_log_directory";
  const isFailed = row.state === "failed";
  const takeAway = isFailed ? say.giveUp : say.takeAway;
  return (
    <Group gap={8}>
      {row.can_be_emptied && !isFailed && (
        <Button
          size="xs"
          variant="default"
          aria-label={say.of1(say.empty, row.name)}
          onClick={() => onAsk({ kind, directory: row.name, remove: false })}
        >
          {say.empty}
        </Button>
      )}
      {row.can_be_removed && (
        <Button
          size="xs"
          variant="default"
          aria-label={say.of1(takeAway, row.name)}
          onClick={() => onAsk({ kind, directory: row.name, remove: true })}
        >
          {takeAway}
        </Button>
      )}
    </Group>
  );
}

function Further({ found, mayChange, onAsk }: PartProps) {
  if (found.further_unknown) {
    return <p className="ps-card-body ps-muted">{say.furtherUnknown(found.further_unknown)}</p>;
  }
  if (found.further.length === 0) return <p className="ps-card-body ps-muted">{say.noFurther}</p>;
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.further}>
        <thead>
          <tr>
            <th scope="col">{say.directory}</th>
            <th scope="col">{say.free}</th>
            {mayChange && <th scope="col">{say.actions}</th>}
          </tr>
        </thead>
        <tbody>
          {found.further.map((row) => (
            <tr key={row.name}>
              <td>
                <Breakable text={row.name} />
                {row.problem && <div className="ps-warn">{row.problem}</div>}
              </td>
              <td>
                <Free free={row.free_bytes} total={row.total_bytes} />
              </td>
              {mayChange && (
                <td>
                  {!row.problem && (
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={say.of1(say.add, row.name)}
                      onClick={() => onAsk({ kind: "cluster.add_log_directory", directory: row.name })}
                    >
                      {say.add}
                    </Button>
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
