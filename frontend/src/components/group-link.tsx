import { Link } from "@tanstack/react-router";
import { Breakable } from "./breakable";

/** A consumer group's name, which leads to its page. */
export function GroupLink({ clusterId, group }: { clusterId: string; group: string }) {
  return (
    <Link to="/clusters/$clusterId/groups/$group" params={{ clusterId, group }} className="ps-link ps-mono">
      <Breakable text={group} />
    </Link>
  );
}
