import { Button } from "@mantine/core";
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

const say = words.hostAddress;

/** The address that the host's agent serves at, where its brokers advertise another one or are following to it. */
export function HostAddress({ host }: { host: PlatformHost }) {
  const elsewhere = host.broker_list.filter((row) => row.address !== host.address);
  const change = host.address_change;
  const isFollowed = change !== null && change.ended_at === null;
  const follow = useChange(
    () =>
      api.post("/api/v1/operator/hosts/{host_id}/address", {
        blanks: { host_id: host.host_id },
        body: { address: host.address },
        ifMatch: host.etag,
      }),
    () => say.begun,
  );
  const stop = useChange(
    () =>
      api.post("/api/v1/operator/hosts/{host_id}/address", {
        blanks: { host_id: host.host_id },
        body: { address: null },
        ifMatch: host.etag,
      }),
    () => say.stopped,
  );
  if (elsewhere.length === 0 && !isFollowed) return null;
  const olds = [...new Set(elsewhere.map((row) => row.address))].join(", ");
  return (
    <Card
      title={say.title}
      padded
      aside={
        isFollowed ? (
          <Button size="xs" variant="default" loading={stop.isPending} onClick={() => stop.mutate(undefined)}>
            {say.stop}
          </Button>
        ) : (
          host.alive && (
            <Button size="xs" loading={follow.isPending} onClick={() => follow.mutate(undefined)}>
              {say.follow}
            </Button>
          )
        )
      }
    >
      <div style={{ display: "grid", gap: 8 }}>
        {elsewhere.length > 0 && (
          <p style={{ margin: 0 }}>
            {say.advertise(elsewhere.length, <Breakable text={olds} />, <Breakable text={host.address} />)}
          </p>
        )}
        {!host.alive && <Notice tone="info">{say.away}</Notice>}
        {!isFollowed && host.alive && <p className="ps-muted">{say.means}</p>}
        {isFollowed && <p style={{ margin: 0 }}>{say.by(actorName(change.by), <RelTime at={change.began_at} />)}</p>}
        {isFollowed && change.about && <p style={{ margin: 0 }}>{say.underWay(change.about)}</p>}
        {change?.waiting_for && elsewhere.length > 0 && (
          <Notice tone="warn" title={say.inTheWay}>
            {waitingText(change)}
          </Notice>
        )}
        {follow.isError && <ProblemPanel error={follow.error} />}
        {stop.isError && <ProblemPanel error={stop.error} />}
      </div>
    </Card>
  );
}
