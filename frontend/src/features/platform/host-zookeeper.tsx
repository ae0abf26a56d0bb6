import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { Breakable } from "@/components/breakable";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { actorName } from "@/components/operation-list";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { waitingText } from "@/lib/host-said";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostZooKeeper;

/** By which connect strings the host's agent and its brokers reach ZooKeeper, and how brokers follow to the agent's. */
export function HostZooKeeper({ host }: { host: PlatformHost }) {
  const { connect, brokers_elsewhere: elsewhere } = host.zookeeper;
  const change = host.zookeeper_change;
  const isFollowed = change !== null && change.ended_at === null;
  const post = (to: string | null) =>
    api.post("/api/v1/operator/hosts/{host_id}/zookeeper", {
      blanks: { host_id: host.host_id },
      body: { connect: to },
      ifMatch: host.etag,
    });
  const follow = useChange(
    () => post(connect),
    () => say.begun,
  );
  const stop = useChange(
    () => post(null),
    () => say.stopped,
  );
  const isBehind = elsewhere !== null && elsewhere > 0;
  return (
    <Card
      title={say.title}
      aside={
        isFollowed ? (
          <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate(undefined)}>
            {say.stop}
          </Button>
        ) : (
          isBehind &&
          host.alive && (
            <Button size="xs" loading={follow.isPending} onClick={() => follow.mutate(undefined)}>
              {say.follow}
            </Button>
          )
        )
      }
    >
      <Strings host={host} />
      {(isBehind || isFollowed || follow.isError || stop.isError) && (
        <div className="ps-card-body" style={{ display: "grid", gap: 8 }}>
          {isBehind && !host.alive && <Notice tone="info">{say.away}</Notice>}
          {isBehind && !isFollowed && host.alive && <p className="ps-muted">{say.means}</p>}
          {isFollowed && <p style={{ margin: 0 }}>{say.by(actorName(change.by), <RelTime at={change.began_at} />)}</p>}
          {isFollowed && change.about && <p style={{ margin: 0 }}>{say.underWay(change.about)}</p>}
          {isBehind && change?.waiting_for && (
            <Notice tone="warn" title={say.inTheWay}>
              {waitingText(change)}
            </Notice>
          )}
          {follow.isError && <ProblemPanel error={follow.error} />}
          {stop.isError && <ProblemPanel error={stop.error} />}
        </div>
      )}
    </Card>
  );
}

function Strings({ host }: { host: PlatformHost }) {
  const { connect, ensemble, is_ours: isOurs, brokers_elsewhere: elsewhere } = host.zookeeper;
  const given = new Map<string, number>();
  for (const row of host.broker_list) given.set(row.zookeeper, (given.get(row.zookeeper) ?? 0) + 1);
  const others = [...given].filter(([string]) => string !== connect);
  const unlike = host.broker_list.filter((row) => row.runs_zookeeper !== row.zookeeper).length;
  const rows: [string, ReactNode][] = [
    [say.agents, connect === null ? say.notKnown : <Breakable text={connect} />],
    [say.ensemble, <Ensemble key="ensemble" id={ensemble} isOurs={isOurs} />],
    [say.elsewhere, elsewhere === null ? say.notKnown : say.ofBrokers(elsewhere, host.broker_list.length)],
    ...others.map(([string, brokers]): [string, ReactNode] => [
      say.given(brokers),
      <Breakable key={string} text={string} />,
    ]),
  ];
  if (unlike > 0) rows.push([say.running, say.notProven(unlike)]);
  return (
    <table className="ps-table" aria-label={say.title}>
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
  );
}

function Ensemble({ id, isOurs }: { id: string | null; isOurs: boolean | null }) {
  if (id === null) return say.notKnown;
  return (
    <>
      <span className="ps-mono">
        <Breakable text={id} />
      </span>{" "}
      <span className={isOurs === false ? "ps-bad" : "ps-muted"}>
        {isOurs === null ? say.notCompared : isOurs ? say.ours : say.anothers}
      </span>
    </>
  );
}
