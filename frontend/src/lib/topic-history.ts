/** Who changed a topic's configuration, from what to what. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

type History = components["schemas"]["ConfigHistory"];
export type HistoryRow = History["data"][number];
/** One setting; null: the topic did not set it itself. */
export type ConfigChange = HistoryRow["changes"][number];

/** Read again with everything else when an operation ends. */
export const useConfigHistory = (clusterId: string, topic: string) =>
  useQuery({
    queryKey: ["page", "config-history", clusterId, topic],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/topics/{name}/config-history", {
        blanks: { cluster_id: clusterId, name: topic },
        signal,
      }),
  });
