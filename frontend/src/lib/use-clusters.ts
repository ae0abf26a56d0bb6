/** The tenant's clusters from the overview page's read model: shared by the navigation and the pages. */
import { usePage } from "./page";
import type { Cluster } from "./types";

export const useOverview = () => usePage("overview", {});

export function useCluster(clusterId: string | undefined): Cluster | undefined {
  const { data } = useOverview();
  return data?.parts.clusters.data?.find((cluster) => cluster.id === clusterId);
}
