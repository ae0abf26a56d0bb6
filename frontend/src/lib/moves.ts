/** How far the partitions of a reassignment are, a page at a time, and its limit. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, fingerprint } from "./api-client";

/** How often the shown page is read again while partitions move, ms. */
const POLL_MS = 3_000;
export const MOVES_SHOWN = 50;

export function useMoves(operationId: string, cursor: string | undefined, isUnderWay: boolean) {
  return useQuery({
    queryKey: ["moves", operationId, cursor ?? ""],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operations/{reassignment_id}/moves", {
        blanks: { reassignment_id: operationId },
        query: { cursor, page_size: MOVES_SHOWN },
        signal,
      }),
    refetchInterval: isUnderWay ? POLL_MS : false,
    placeholderData: (before) => before,
  });
}

/** The limit as it is asked for, and whether brokers have it. */
export function useLimit(operationId: string) {
  return useQuery({
    queryKey: ["limit", operationId],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operations/{reassignment_id}/throttle", { blanks: { reassignment_id: operationId }, signal }),
    refetchInterval: POLL_MS,
    placeholderData: (before) => before,
  });
}

/** Another limit in bytes/s, null for none. Each change has its own key: a retry changes nothing twice. */
export function useChangeLimit(operationId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (throttle_bytes_per_s: number | null) =>
      api.post("/api/v1/operations/{reassignment_id}/throttle", {
        blanks: { reassignment_id: operationId },
        body: { throttle_bytes_per_s },
        idempotencyKey: `${operationId}-${fingerprint(`${throttle_bytes_per_s} ${Date.now()}`)}`,
      }),
    onSuccess: () =>
      Promise.all(["moves", "limit"].map((name) => client.invalidateQueries({ queryKey: [name, operationId] }))),
  });
}
