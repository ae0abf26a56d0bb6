import { Link } from "@tanstack/react-router";
import { Breakable } from "@/components/breakable";
import { RelTime } from "@/components/rel-time";
import { unreadText } from "@/lib/differences";
import type { ClusterDrift } from "@/lib/types";
import { words } from "@/words/late-parts";

const say = words.sighting;

/** What each door that shows a difference says of it. */
export type Sighting = Pick<ClusterDrift["data"][number], "equal_at" | "seen_at" | "changed_at" | "who">;

/** From when it was last seen as it was left to when it was first seen otherwise: somewhere between the two. */
export function ChangedWhen({ row: { equal_at, seen_at, changed_at } }: { row: Sighting }) {
  const seen = <RelTime at={seen_at} />;
  return (
    <>
      {equal_at === null ? say.before(seen) : say.between(<RelTime at={equal_at} />, seen)}
      {changed_at !== seen_at && <span className="ps-muted">, {say.changedAgain(<RelTime at={changed_at} />)}</span>}
    </>
  );
}

/** By whom, as far as anybody wrote it down; `name`: of what was changed, for those who hear the link. */
export function ChangedBy({ row: { who }, name }: { row: Sighting; name: string }) {
  return (
    <>
      <Author who={who} />{" "}
      {who.operation_id !== null && (
        <Link
          to="/operations/$operationId"
          params={{ operationId: who.operation_id }}
          className="ps-link"
          aria-label={say.operationOf(name)}
        >
          {say.thatOperation}
        </Link>
      )}
      {who.at !== null && (
        <span className="ps-muted">
          {" "}
          <RelTime at={who.at} />
        </span>
      )}
    </>
  );
}

function Author({ who }: { who: Sighting["who"] }) {
  const { by, actor, host, text } = who;
  const unread = unreadText(who);
  if (by === "unknown")
    return (
      <span className="ps-muted" title={text}>
        {say.unknown}
        {unread && <>. {unread}</>}
      </span>
    );
  return (
    <span title={text}>
      <span className="ps-mono">
        <Breakable text={actor ?? ""} />
      </span>
      {host !== null && <> {say.from(host)}</>}
    </span>
  );
}
