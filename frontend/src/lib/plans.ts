/** Plan → confirm → operation: the one way anything risky is done. */
import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { words } from "@/words";
import { filled } from "./addresses";
import { api, fingerprint } from "./api-client";
import { useEvents } from "./live";
import { ApiError, isRefusal } from "./problem";
import { TERMINAL } from "./operations";
import type { Operation, OperationEvents, Plan, PlanRequest } from "./types";

export function useMakePlan() {
  return useMutation({ mutationFn: (input: PlanRequest) => api.post("/api/v1/plans", { body: input }) });
}

export function useUndoPlan() {
  return useMutation({
    mutationFn: (operationId: string) =>
      api.post("/api/v1/operations/{operation_id}/undo-plan", { blanks: { operation_id: operationId } }),
  });
}

interface Confirmation {
  plan: Plan;
  confirm?: string;
  reason?: string;
}

/** Starts the planned operation. The same confirmation has the same key: a retry after a lost answer starts nothing twice. */
export function useConfirmPlan() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ plan, confirm, reason }: Confirmation) => {
      const body = { plan_id: plan.id, plan_hash: plan.plan_hash, confirm, reason: reason || undefined };
      return api.post("/api/v1/operations", {
        body,
        idempotencyKey: `${plan.id}-${fingerprint(JSON.stringify(body))}`,
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["page"] }),
  });
}

export function useCancelOperation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      api.post("/api/v1/operations/{operation_id}/cancellation", { blanks: { operation_id: id } }),
    onSuccess: (operation) => client.setQueryData(operationQuery(operation.id).queryKey, operation),
  });
}

function useOperationAct(
  address: "/api/v1/operations/{operation_id}/pause" | "/api/v1/operations/{operation_id}/resumption",
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.post(address, { blanks: { operation_id: id } }),
    onSuccess: (operation) => client.setQueryData(operationQuery(operation.id).queryKey, operation),
  });
}

/** Stops before the next thing that it does; what is under way is finished. */
export const usePauseOperation = () => useOperationAct("/api/v1/operations/{operation_id}/pause");
export const useResumeOperation = () => useOperationAct("/api/v1/operations/{operation_id}/resumption");

/** Poll pace without a live stream, and the slow safety poll with one, ms. */
const POLL_MS = 1_500;
const SAFETY_POLL_MS = 15_000;

export function operationQuery(id: string) {
  return queryOptions({
    queryKey: ["operation", id],
    queryFn: async ({ signal }) => {
      const page = await api.get("/console/api/pages/operation/{operation_id}", {
        blanks: { operation_id: id },
        signal,
      });
      const { data, reason } = page.parts.operation;
      if (data === null)
        throw new ApiError({
          title: words.common.errors.operationUnread,
          status: 503,
          detail: reason ?? undefined,
          retryable: true,
        });
      return data;
    },
  });
}

/** Whatever an operation may have changed is asked for again: pages, lists, names to choose from, what it has undone. */
function readAgain(client: QueryClient, ended: Operation): void {
  void client.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== "operation" && queryKey[0] !== "session",
  });
  if (ended.reverts) void client.invalidateQueries({ queryKey: operationQuery(ended.reverts).queryKey });
}

/**
 * One operation, moving as it moves: by server-sent events, by polling when the stream is down. Its end, whichever of
 * them brings it, has all that is shown asked for again. `isNew`: it was just started, so its first answer may be its end.
 */
export function useOperation(id: string | null, { isNew = false }: { isNew?: boolean } = {}) {
  const client = useQueryClient();
  const known = id ? client.getQueryState(operationQuery(id).queryKey) : undefined;
  const settled =
    known !== undefined && (isRefusal(known) || (known.data !== undefined && TERMINAL.has(known.data.state)));
  const address = filled("/console/events/operations/{operation_id}", { operation_id: id });
  const live = useEvents<OperationEvents>(id && !settled ? address : null, {
    operation: (operation) => {
      client.setQueryData(operationQuery(operation.id).queryKey, operation);
    },
  });
  const query = useQuery({
    ...operationQuery(id ?? ""),
    enabled: id !== null,
    refetchInterval: ({ state }) => {
      if (isRefusal(state) || (state.data && TERMINAL.has(state.data.state))) return false;
      return live ? SAFETY_POLL_MS : POLL_MS;
    },
  });
  const { data } = query;
  const moving = useRef(isNew ? id : null);
  useEffect(() => {
    if (!data) return;
    if (!TERMINAL.has(data.state)) moving.current = data.id;
    else if (moving.current === data.id) {
      moving.current = null;
      readAgain(client, data);
    }
  }, [client, data]);
  return { ...query, live };
}
