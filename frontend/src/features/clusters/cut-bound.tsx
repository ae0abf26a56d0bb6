import type { Cluster } from "@/lib/types";
import { formatDuration } from "@/lib/format";

/** How long a cut between two of the cluster's hosts holds writes up, where that is ours to know. */
export function CutBound({ cluster }: { cluster: Pick<Cluster, "cut_bound_s" | "brokers"> }) {
  const seconds = cluster.cut_bound_s;
  if (seconds === null || cluster.brokers.length < 2) return null;
  return (
    <p className="ps-muted" style={{ margin: 0, padding: "0.625rem 1rem", fontSize: "0.8125rem" }}>
      If two brokers lose sight of each other while both reach ZooKeeper, writes with acks=all that wait for both go on
      after <span title={`${seconds} s: 1.5 times replica.lag.time.max.ms`}>{formatDuration(Math.ceil(seconds))}</span>{" "}
      at most (<span className="ps-mono">replica.lag.time.max.ms</span>).
    </p>
  );
}
