import { useLocalStorage } from "@mantine/hooks";
import { useEffect } from "react";
import { useOverview } from "./use-clusters";

/** The open cluster; outside of one the last that was open, else the first; undefined while there is none. */
export function useLastCluster(opened: string | undefined) {
  const { data } = useOverview();
  const [last, setLast] = useLocalStorage<string | null>({ key: "penstock-cluster", defaultValue: null });
  useEffect(() => {
    if (opened) setLast(opened);
  }, [opened, setLast]);
  const clusters = data?.parts.clusters.data ?? [];
  const known = (id: string | null | undefined) => clusters.find((cluster) => cluster.id === id);
  return known(opened) ?? known(last) ?? clusters[0];
}
