import { Button, Group } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { PlanFlow } from "@/components/plan-flow";
import { ProblemPanel } from "@/components/problem-panel";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { type Healing, type HealingCase, useHealing } from "@/lib/healing";
import { healingText } from "@/lib/healing-said";
import { kindLabel } from "@/lib/kinds";
import { useMayWrite } from "@/lib/permissions";
import { isRefusal } from "@/lib/problem";
import type { Cluster } from "@/lib/types";
import { words } from "@/words/healing";
import { HealingForm } from "./healing-form";

const say = words.card;

/** What is done when a host is gone: the policy, the last decision with its reason, the cases. Only where it is ours to do. */
export function HealingCard({ cluster }: { cluster: Pick<Cluster, "id" | "kind" | "name"> }) {
  if (cluster.kind !== "managed") return null;
  return <Asked cluster={cluster} />;
}

function Asked({ cluster }: { cluster: Pick<Cluster, "id" | "name"> }) {
  const query = useHealing(cluster.id);
  const mayChange = useMayWrite()("cluster", cluster.id);
  const [isChanged, setChanged] = useState(false);
  // Who sees a part of the cluster only is not told what is decided about all of it.
  if (isRefusal(query)) return null;
  const found = query.data;
  return (
    <Card
      title={say.title}
      aside={
        found &&
        mayChange && (
          <Button variant="default" size="xs" onClick={() => setChanged(true)}>
            {say.change}
          </Button>
        )
      }
    >
      {query.isPending && <Lines rows={3} />}
      {!query.isPending && !found && (
        <div className="ps-card-body">
          <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {found && <Shown clusterId={cluster.id} healing={found} mayChange={mayChange} />}
      {found && isChanged && <HealingForm clusterId={cluster.id} healing={found} onClose={() => setChanged(false)} />}
    </Card>
  );
}

function Shown({ clusterId, healing, mayChange }: { clusterId: string; healing: Healing; mayChange: boolean }) {
  const { decision } = healing;
  return (
    <>
      <div className="ps-card-body" style={{ display: "grid", gap: 8 }}>
        <p style={{ margin: 0 }}>
          <strong>{say[healing.mode]}.</strong> <Meaning healing={healing} />
        </p>
        {healing.mode !== "off" && healing.windows.length > 0 && (
          <p className="ps-muted" style={{ margin: 0 }}>
            {healing.window_open ? say.windowOpen : say.windowOpens(<RelTime at={healing.window_opens_at} />)}
          </p>
        )}
        {healing.mode !== "off" &&
          (decision ? (
            <Notice tone={QUIET.has(decision.code) ? "info" : "warn"} title={healingText(decision)}>
              {say.lastLook(<RelTime at={decision.at} />)}
            </Notice>
          ) : (
            <p className="ps-muted" style={{ margin: 0 }}>
              {say.noLook}
            </p>
          ))}
      </div>
      {healing.cases.length > 0 ? (
        <Cases clusterId={clusterId} cases={healing.cases} mayChange={mayChange} />
      ) : (
        healing.mode !== "off" && <Empty title={say.noCases}>{say.noCasesText}</Empty>
      )}
    </>
  );
}

/** Decisions that ask for nobody's eye. */
const QUIET = new Set(["well", "healed", "broker-up"]);

function Meaning({ healing }: { healing: Healing }) {
  const wait = <Quantity of="span" value={healing.replace_after_s} />;
  if (healing.mode === "off") return <>{say.offText}</>;
  if (healing.mode === "ask") return <>{say.askText(wait)}</>;
  return <>{say.automaticText(wait, healing.per_day_max)}</>;
}

function Cases({ clusterId, cases, mayChange }: { clusterId: string; cases: HealingCase[]; mayChange: boolean }) {
  const [broker, setBroker] = useState<number | null>(null);
  const dismiss = useChange(
    (id: string) =>
      api.post("/api/v1/clusters/{cluster_id}/healing/cases/{case_id}/dismissal", {
        blanks: { cluster_id: clusterId, case_id: id },
      }),
    () => say.dismissed,
  );
  return (
    <div className="ps-table-wrap">
      <table className="ps-table" aria-label={say.cases}>
        <thead>
          <tr>
            <th scope="col">{say.broker}</th>
            <th scope="col">{say.state}</th>
            <th scope="col">{say.why}</th>
            <th scope="col">{say.moved}</th>
          </tr>
        </thead>
        <tbody>
          {cases.map((row) => (
            <tr key={row.id}>
              <td className="ps-tnum">{row.broker}</td>
              <td>{say.states[row.state]}</td>
              <td style={{ overflowWrap: "anywhere", minWidth: "12rem" }}>
                {healingText(row)}{" "}
                {row.operation_id && (
                  <Link to="/operations/$operationId" params={{ operationId: row.operation_id }} className="ps-link">
                    {say.operation}
                  </Link>
                )}
                {mayChange && row.state === "proposed" && (
                  <Group gap={8} mt={6}>
                    <Button size="xs" onClick={() => setBroker(row.broker)}>
                      {say.replace}
                    </Button>
                    <Button
                      size="xs"
                      variant="default"
                      loading={dismiss.isPending}
                      onClick={() => dismiss.mutate(row.id)}
                    >
                      {say.dismiss}
                    </Button>
                  </Group>
                )}
              </td>
              <td>
                <RelTime at={row.moved_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {dismiss.isError && <ProblemPanel error={dismiss.error} />}
      <PlanFlow
        request={broker === null ? null : { kind: "cluster.replace_broker", cluster_id: clusterId, inputs: { broker } }}
        title={`${kindLabel("cluster.replace_broker")}: ${broker ?? ""}`}
        onClose={() => setBroker(null)}
      />
    </div>
  );
}
