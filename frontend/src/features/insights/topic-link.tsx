import { Link } from "@tanstack/react-router";
import { Breakable } from "@/components/breakable";

export function TopicLink({ clusterId, topic }: { clusterId: string; topic: string }) {
  return (
    <Link to="/clusters/$clusterId/topics/$topic" params={{ clusterId, topic }} className="ps-link ps-mono">
      <Breakable text={topic} />
    </Link>
  );
}
