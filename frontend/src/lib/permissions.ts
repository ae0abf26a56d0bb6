/** What the session may change, so that nothing is offered that can only end in 403. The service asks each request anew. */
import { covers } from "./grants";
import { useSession } from "./session";
import type { Operation, Session } from "./types";
import { useOverview } from "./use-clusters";

/** What is changed: all of a cluster (its users and ACLs too), or a topic or group on it. */
export type Over = "cluster" | "topic" | "group";

export interface Need {
  over: Over;
  /** Its name; not known: any that a grant covers would do. */
  cluster?: string;
  /** Of the topic or group; not said: any that a grant covers would do. */
  name?: string;
}

export function mayWrite(session: Session | undefined, need: Need): boolean {
  return session?.can_write === true && isGranted(session.writes, need);
}

function isGranted(grants: Session["writes"], { over, cluster, name }: Need): boolean {
  return grants.some((grant) => {
    if (cluster !== undefined && !covers(grant.clusters, cluster)) return false;
    if (grant.over === "cluster") return true;
    return grant.over === over && (name === undefined || covers(grant.names, name));
  });
}

/** Whether the messages of a topic may be read; while the cluster's name is not known only grants on every cluster count. */
export function useMayBrowse(): (clusterId: string, topic: string) => boolean {
  const { data: session } = useSession();
  const { data } = useOverview();
  const clusters = data?.parts.clusters.data ?? [];
  return (clusterId, topic) => {
    const cluster = clusters.find((one) => one.id === clusterId)?.name ?? "";
    return isGranted(session?.browses ?? [], { over: "topic", cluster, name: topic });
  };
}

/** Asks of a cluster by its id; without one, of any cluster. While its name is not known only grants on every cluster count. */
export function useMayWrite(): (over: Over, clusterId?: string | null, name?: string) => boolean {
  const { data: session } = useSession();
  const { data } = useOverview();
  const clusters = data?.parts.clusters.data ?? [];
  return (over, clusterId, name) => {
    const cluster = clusterId ? (clusters.find((one) => one.id === clusterId)?.name ?? "") : undefined;
    return mayWrite(session, { over, cluster, name });
  };
}

/** What an operation, or the plan that undoes it, is about: its kind says what it changes, its resource the name. */
export function needOf({ kind, resource }: Pick<Operation, "kind" | "resource">): Pick<Need, "over" | "name"> {
  const name = resource.slice(resource.indexOf("/") + 1);
  if (kind.startsWith("topic.")) return { over: "topic", name };
  if (kind.startsWith("offset.") || kind.startsWith("group.")) return { over: "group", name };
  return { over: "cluster" };
}
