import { Quantity } from "@/components/quantity";
import type { Cluster } from "@/lib/types";
import { words } from "@/words/clusters";

const say = words.cutBound;

/** How long a cut between two of the cluster's hosts holds writes up, where that is ours to know. */
export function CutBound({ cluster }: { cluster: Pick<Cluster, "cut_bound_s" | "brokers"> }) {
  const seconds = cluster.cut_bound_s;
  if (seconds === null || cluster.brokers.length < 2) return null;
  return (
    <p className="ps-muted" style={{ margin: 0, padding: "0.625rem 1rem", fontSize: "0.8125rem" }}>
      {say.writesGoOnAfter(<Quantity of="span" value={seconds} />)}
    </p>
  );
}
