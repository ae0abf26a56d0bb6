import { Menu, ActionIcon } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { DeleteItem } from "@/components/more-menu";
import { Quantity } from "@/components/quantity";
import { RelTime } from "@/components/rel-time";
import { Status, type Tone } from "@/components/status";
import type { HostAct } from "@/lib/administration";
import type { PlatformHost } from "@/lib/types";
import { words } from "@/words/platform";

const say = words.hostParts;

const STATES: Record<PlatformHost["state"], Tone> = { active: "ok", cordoned: "warn", draining: "warn", lost: "bad" };

/** What operators decided, in a word, with what it means. */
export function HostState({ host }: { host: PlatformHost }) {
  return <Status tone={STATES[host.state]} {...say.states[host.state]} />;
}

export function AgentState({ host }: { host: PlatformHost }) {
  if (host.alive) return <Status tone="ok" label={say.alive} />;
  return <Status tone="bad" label={say.away} />;
}

/** How much of a whole is free; what is not known says so. */
export function FreeOf({ free, total }: { free: number | null; total: number | null }) {
  if (free === null) return <span className="ps-muted">{say.notKnown}</span>;
  if (total === null) return <Quantity of="bytes" value={free} />;
  return <>{say.of(<Quantity of="bytes" value={free} />, <Quantity of="bytes" value={total} />)}</>;
}

/** How old the figures of a host are. */
export function Reported({ host: { capacity } }: { host: PlatformHost }) {
  if (capacity.reported_at === null) return <span className="ps-muted">{say.neverReported}</span>;
  return (
    <span className={capacity.is_stale ? "ps-warn" : "ps-muted"}>
      {say.reported(<RelTime at={capacity.reported_at} />)}
    </span>
  );
}

/** Which acts the state of a host has; whether one can be done now says its plan. */
export function actsOf(host: PlatformHost): HostAct[] {
  if (host.state === "lost") return ["cordon", "remove"];
  const moves: HostAct[] =
    host.state === "active"
      ? ["cordon", "drain"]
      : host.state === "cordoned"
        ? ["uncordon", "drain"]
        : ["uncordon", "cordon"];
  return [...moves, "declare-lost", "remove"];
}

export const actLabel = (host: PlatformHost, act: HostAct): string =>
  act === "cordon" && host.state === "lost" ? say.takeBack : say.acts[act];

export function HostMenu({ host, onChoose }: { host: PlatformHost; onChoose: (act: HostAct) => void }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="sm" aria-label={say.actionsFor(host.host_id)}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actsOf(host).map((act) =>
          act === "declare-lost" || act === "remove" ? (
            <DeleteItem key={act} onClick={() => onChoose(act)}>
              {actLabel(host, act)}
            </DeleteItem>
          ) : (
            <Menu.Item key={act} onClick={() => onChoose(act)}>
              {actLabel(host, act)}
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
