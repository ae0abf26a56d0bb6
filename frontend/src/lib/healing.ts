/** Self-healing of a cluster: its policy, what the last look came to, its cases. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

export type Healing = components["schemas"]["Healing"];
export type HealingCase = components["schemas"]["HealingCase"];
export type MaintenanceWindow = components["schemas"]["MaintenanceWindow"];

export const DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
export const WINDOWS_MAX = 21;
/** A round every 10 s. */
const LOOK_MS = 10_000;

export const useHealing = (clusterId: string) =>
  useQuery({
    queryKey: ["page", "clusters", clusterId, "healing"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/healing", { blanks: { cluster_id: clusterId }, signal }),
    refetchInterval: LOOK_MS,
  });

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

export const inside = (value: number | string, least: number, most: number) =>
  value !== "" && Number(value) >= least && Number(value) <= most;

export const areWindows = (windows: MaintenanceWindow[]) =>
  windows.every((each) => TIME.test(each.begins) && inside(each.minutes, 15, 10_080));
