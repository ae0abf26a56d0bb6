/** Alerts about hosts: the operators', under their own address, and in no tenant's list. */
import { useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import { isRefusal } from "./problem";

/** How many one request brings; the card says when there are more. */
export const HOST_ALERTS_MAX = 200;

/** Those that fire or somebody is at: of all hosts, or of one. */
export const useHostAlerts = (hostId?: string) =>
  useQuery({
    queryKey: ["page", "platform", "alerts", hostId ?? ""],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operator/alerts", {
        query: { state: "open", page_size: HOST_ALERTS_MAX, ...(hostId === undefined ? {} : { host_id: hostId }) },
        signal,
      }),
    refetchInterval: ({ state }) => (isRefusal(state) ? false : REFRESH_MS),
  });
