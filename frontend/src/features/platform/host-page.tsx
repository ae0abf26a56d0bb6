import { Button, Group } from "@mantine/core";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { processWord } from "@/components/broker-state";
import { Card, Lines } from "@/components/card";
import { Empty } from "@/components/empty";
import { Notice } from "@/components/notice";
import { actorName } from "@/components/operation-list";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { Refused } from "@/components/refused";
import { RelTime } from "@/components/rel-time";
import { type Stat, Stats, StatsSkeleton } from "@/components/stats";
import { type HostAct, useHostEvents, usePlatformHost } from "@/lib/administration";
import { formatInteger } from "@/lib/format";
import { takesNoneText } from "@/lib/host-said";
import { isRefusal } from "@/lib/problem";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";
import { HostActForm } from "./host-act";
import { HostAlerts } from "./host-alerts";
import { HostAddress } from "./host-address";
import { HostDirectories } from "./host-directories";
import { HostDrain } from "./host-drain";
import { HostZooKeeper } from "./host-zookeeper";
import { actLabel, actsOf, AgentState, FreeOf, HostState, Reported } from "./host-parts";

const say = words.hostPage;
const route = getRouteApi("/app/platform/hosts/$hostId");

/** One host, for operators: what was decided, what it has left, what runs there, what was done. */
export function HostPage() {
  const { hostId } = route.useParams();
  const query = usePlatformHost(hostId);
  if (isRefusal(query)) return <Refused error={query.error} />;
  if (query.isPending) {
    return (
      <>
        <PageHeader title={hostId} />
        <StatsSkeleton count={5} />
      </>
    );
  }
  if (!query.data) {
    return (
      <>
        <PageHeader title={hostId} />
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </>
    );
  }
  return <Shown host={query.data} isOld={query.isError} />;
}

function Shown({ host, isOld }: { host: PlatformHost; isOld: boolean }) {
  const [act, setAct] = useState<HostAct | null>(null);
  const navigate = useNavigate();
  return (
    <>
      <PageHeader
        title={host.host_id}
        sub={say.rackAt(host.rack, host.address)}
        actions={
          <Group gap={8}>
            {actsOf(host).map((each) => (
              <Button
                key={each}
                size="xs"
                variant="default"
                {...((each === "declare-lost" || each === "remove") && { c: "var(--ps-bad)" })}
                onClick={() => setAct(each)}
              >
                {actLabel(host, each)}
              </Button>
            ))}
          </Group>
        }
      />
      <div style={{ display: "grid", gap: 14 }}>
        {isOld && <Notice tone="warn">{say.notReadAgain}</Notice>}
        {host.capacity.problem && <Notice tone="warn">{host.capacity.problem}</Notice>}
        {host.takes_none_because && (
          <Notice tone="info" title={say.getsNoNewBrokers}>
            {takesNoneText(host)}
          </Notice>
        )}
        <HostAlerts hostId={host.host_id} />
        <Stats items={figures(host)} />
        <HostAddress host={host} />
        {host.drain && <HostDrain host={host} drain={host.drain} />}
        <HostDirectories host={host} />
        <HostZooKeeper host={host} />
        <div className="ps-cols-2-1">
          <Brokers host={host} />
          <Facts host={host} />
        </div>
        {host.lost_brokers.length > 0 && <Lost host={host} />}
        <Events hostId={host.host_id} />
      </div>
      {act && (
        <HostActForm
          host={host}
          act={act}
          onClose={() => setAct(null)}
          onDone={act === "remove" ? () => void navigate({ to: "/platform", search: { tab: "hosts" } }) : undefined}
        />
      )}
    </>
  );
}

function figures(host: PlatformHost): Stat[] {
  const { capacity } = host;
  return [
    { label: say.state, value: <HostState host={host} />, note: decidedBy(host) },
    {
      label: say.agent,
      value: <AgentState host={host} />,
      note: host.alive
        ? say.since(<RelTime at={host.alive_since} />)
        : say.described(<RelTime at={host.described_at} />),
    },
    {
      label: say.diskFree,
      value: <FreeOf free={capacity.disk_free_bytes} total={capacity.disk_total_bytes} />,
      note: <Reported host={host} />,
    },
    {
      label: say.memoryFree,
      value: <FreeOf free={capacity.memory_free_bytes} total={capacity.memory_total_bytes} />,
    },
    {
      label: say.load,
      value: capacity.load === null ? say.notKnown : capacity.load.toFixed(2),
      note: capacity.cores === null ? say.coresNotKnown : say.onCores(capacity.cores),
    },
    {
      label: say.portsFree,
      value: capacity.ports_free === null ? say.notKnown : formatInteger(capacity.ports_free),
      note: say.ofPorts(capacity.ports),
    },
  ];
}

function decidedBy(host: PlatformHost): ReactNode {
  if (host.state_by === null) return say.nothingDecided;
  return say.by(actorName(host.state_by), <RelTime at={host.state_since} />);
}

function Facts({ host }: { host: PlatformHost }) {
  const rows: [string, ReactNode][] = [
    [say.ports, `${host.port_range[0]}–${host.port_range[1]}`],
    [say.agentVersion, host.agent_version || say.notKnown],
    [say.dataDirectory, host.directory_id || say.notKnown],
    [say.reason, host.state_reason ?? "–"],
    [say.labels, host.labels.length === 0 ? "–" : host.labels.map((label) => `${label.key}=${label.value}`).join(", ")],
  ];
  return (
    <Card title={say.about}>
      <table className="ps-table" aria-label={say.about}>
        <tbody>
          {rows.map(([name, value]) => (
            <tr key={name}>
              <th scope="row" style={{ textAlign: "left", fontWeight: "inherit" }}>
                {name}
              </th>
              <td style={{ overflowWrap: "anywhere" }}>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Brokers({ host }: { host: PlatformHost }) {
  return (
    <Card title={say.brokers}>
      {host.broker_list.length === 0 ? (
        <Empty title={say.noBrokers}>{say.aClusterThatIsMade}</Empty>
      ) : (
        <table className="ps-table" aria-label={say.brokers}>
          <thead>
            <tr>
              <th scope="col">{say.tenant}</th>
              <th scope="col">{say.cluster}</th>
              <th scope="col">{say.broker}</th>
              <th scope="col">{say.process}</th>
            </tr>
          </thead>
          <tbody>
            {host.broker_list.map((broker) => (
              <tr key={`${broker.cluster_id}-${broker.broker_id}`}>
                <td>{broker.tenant}</td>
                <td>{broker.cluster}</td>
                <td className="ps-tnum">{broker.broker_id}</td>
                <td>
                  {broker.observed_state === null ? say.notKnown : processWord(broker.observed_state)}{" "}
                  <span className="ps-muted">
                    <RelTime at={broker.observed_at} fallback="" />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Lost({ host }: { host: PlatformHost }) {
  return (
    <Card title={say.lostBrokers}>
      <table className="ps-table" aria-label={say.lostBrokers}>
        <thead>
          <tr>
            <th scope="col">{say.broker}</th>
            <th scope="col">{say.declared}</th>
            <th scope="col">{say.fenced}</th>
          </tr>
        </thead>
        <tbody>
          {host.lost_brokers.map((broker) => (
            <tr key={`${broker.cluster_id}-${broker.broker_id}`}>
              <td>
                {broker.tenant}/{broker.cluster}/{broker.broker_id}
              </td>
              <td>
                <RelTime at={broker.declared_at} />{" "}
                <span className="ps-muted">{say.declaredBy(actorName(broker.declared_by))}</span>
              </td>
              <td style={{ overflowWrap: "anywhere" }}>
                {broker.fenced_at === null ? (
                  <span className="ps-warn">{say.notYet}</span>
                ) : (
                  <>
                    <RelTime at={broker.fenced_at} />{" "}
                    <span className="ps-muted">
                      {broker.directory_ids.length === 0 ? say.directoriesNotKnown : broker.directory_ids.join(", ")}
                    </span>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Events({ hostId }: { hostId: string }) {
  const query = useHostEvents(hostId);
  let body: ReactNode;
  if (query.isPending) body = <Lines rows={3} />;
  else if (!query.data) {
    body = (
      <div className="ps-card-body">
        <ProblemPanel error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  } else if (query.data.data.length === 0) body = <Empty title={say.nothingDone}>{say.whatOperatorsDo}</Empty>;
  else {
    body = (
      <ul className="ps-events" aria-label={say.events}>
        {query.data.data.map((event) => (
          <li key={event.id}>
            <span className="ps-mono">{event.action}</span>
            <span style={{ minWidth: 0, overflowWrap: "anywhere" }}>
              {say.eventBy(actorName(event.actor))} <span className="ps-muted">{event.reason}</span>
            </span>
            <span className="ps-alerts-end">
              <RelTime at={event.at} />
            </span>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <Card
      title={say.events}
      aside={
        <Link to="/platform" search={{ tab: "hosts" }} className="ps-link" style={{ fontSize: "0.8125rem" }}>
          {say.allHosts}
        </Link>
      }
    >
      {body}
    </Card>
  );
}
