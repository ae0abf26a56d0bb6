/** What brokers denied, by their audit logs: asked for by somebody who looks, never by itself. */
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { useLooks } from "./looks";

export type DeniedPage = components["schemas"]["DeniedAttemptPage"];
export type DeniedAttempt = DeniedPage["data"][number];
export type AuditedBroker = DeniedPage["brokers"][number];

const ATTEMPTS_A_PAGE = 100;

/** `again` asks every broker's host anew, from the newest on. */
export const useDeniedAttempts = (clusterId: string) =>
  useLooks<DeniedPage>({
    queryKey: ["denied-attempts", clusterId],
    read: (cursor, signal) =>
      api.get("/api/v1/clusters/{cluster_id}/access/denials", {
        blanks: { cluster_id: clusterId },
        query: { cursor, page_size: ATTEMPTS_A_PAGE },
        signal,
      }),
  });
