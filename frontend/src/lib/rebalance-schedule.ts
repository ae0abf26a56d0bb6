/** When a cluster is rebalanced by itself: the schedule, what the last look came to, what it began. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

export type RebalanceSchedule = components["schemas"]["RebalanceSchedule"];
export type ScheduledRebalance = components["schemas"]["ScheduledRebalance"];

/** A round every 30 s. */
const LOOK_MS = 30_000;

export const useRebalanceSchedule = (clusterId: string) =>
  useQuery({
    queryKey: ["page", "clusters", clusterId, "rebalance-schedule"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/rebalance-schedule", { blanks: { cluster_id: clusterId }, signal }),
    refetchInterval: LOOK_MS,
  });
