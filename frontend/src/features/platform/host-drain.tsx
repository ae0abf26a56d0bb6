import { Button } from "@mantine/core";
import { Card } from "@/components/card";
import { actorName } from "@/components/operation-list";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { RelTime } from "@/components/rel-time";
import { useChange } from "@/lib/administration";
import { api } from "@/lib/api-client";
import { waitingText } from "@/lib/host-said";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostDrain;
type Drain = NonNullable<PlatformHost["drain"]>;

/** How far the brokers of a draining host have left it, what is under way, and what is in the way. */
export function HostDrain({ host, drain }: { host: PlatformHost; drain: Drain }) {
  const isPaused = drain.paused_at !== null;
  const send = useChange(
    (paused: boolean) =>
      api.post("/api/v1/operator/hosts/{host_id}/drain", {
        blanks: { host_id: host.host_id },
        body: { paused },
        ifMatch: host.etag,
      }),
    () => (isPaused ? say.goesOn : say.paused),
  );
  const total = drain.moved + drain.left;
  return (
    <Card
      title={say.title}
      padded
      aside={
        drain.left > 0 && (
          <Button size="xs" variant="default" loading={send.isPending} onClick={() => send.mutate(!isPaused)}>
            {isPaused ? say.resume : say.pause}
          </Button>
        )
      }
    >
      <div style={{ display: "grid", gap: 8 }}>
        <progress
          aria-label={say.progress}
          max={Math.max(total, 1)}
          value={total === 0 ? 1 : drain.moved}
          style={{ width: "100%" }}
        />
        <p style={{ margin: 0 }}>{drain.left === 0 ? say.nothingLeft : say.haveLeft(drain.moved, total)}</p>
        {drain.about && <p style={{ margin: 0 }}>{say.underWay(drain.about)}</p>}
        {drain.paused_at && (
          <Notice tone="info">
            {say.pausedBy(actorName(drain.paused_by ?? ""), <RelTime at={drain.paused_at} />)}
          </Notice>
        )}
        {drain.waiting_for && (
          <Notice tone="warn" title={say.inTheWay}>
            {waitingText(drain)}
          </Notice>
        )}
        {send.isError && <ProblemPanel error={send.error} />}
      </div>
    </Card>
  );
}
