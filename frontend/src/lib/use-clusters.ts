/** The tenant's clusters from the overview page's read model: shared by the navigation and the pages. */
import { usePage } from "./page";
import type { Cluster, Host, Operation } from "./types";

export interface Attention {
  cluster_id: string;
  cluster_name: string;
  severity: "warning" | "danger";
  text: string;
  /** What the text is about, for the link. */
  group?: string | null;
  topic?: string | null;
  as_of?: string | null;
}

export interface OverviewParts {
  clusters: Cluster[];
  operations: Operation[];
  hosts: Host[];
  attention: Attention[];
}

export const useOverview = () => usePage<OverviewParts>("overview");

export function useCluster(clusterId: string | undefined): Cluster | undefined {
  const { data } = useOverview();
  return data?.parts.clusters.data?.find((cluster) => cluster.id === clusterId);
}
