/** What is administered: lists of the REST API, and writes after which they are read again. */
import { notifications } from "@mantine/notifications";
import { type QueryFilters, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "./api-client";
import { isOutdated } from "./problem";
import type { HostPlan } from "./types";

const PAGE = { page_size: 500 };

export const useMembers = () =>
  useQuery({
    queryKey: ["page", "members"],
    queryFn: ({ signal }) => api.get("/api/v1/members", { query: PAGE, signal }),
  });
export const useInvitations = () =>
  useQuery({
    queryKey: ["page", "invitations"],
    queryFn: ({ signal }) => api.get("/api/v1/invitations", { query: PAGE, signal }),
  });
export const useServiceAccounts = () =>
  useQuery({
    queryKey: ["page", "service-accounts"],
    queryFn: ({ signal }) => api.get("/api/v1/service-accounts", { query: PAGE, signal }),
  });
export const useApiKeys = () =>
  useQuery({
    queryKey: ["page", "api-keys"],
    queryFn: ({ signal }) => api.get("/api/v1/api-keys", { query: PAGE, signal }),
  });
export const usePlatformTenants = () =>
  useQuery({
    queryKey: ["page", "platform", "tenants"],
    queryFn: ({ signal }) => api.get("/api/v1/operator/tenants", { query: PAGE, signal }),
  });
export const usePlatformTenant = (tenantId: string | null) =>
  useQuery({
    queryKey: ["page", "platform", "tenants", tenantId],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operator/tenants/{tenant_id}", { blanks: { tenant_id: tenantId ?? "" }, signal }),
    enabled: tenantId !== null,
  });
export const usePlatformUsers = () =>
  useQuery({
    queryKey: ["page", "platform", "users"],
    queryFn: ({ signal }) => api.get("/api/v1/operator/users", { query: PAGE, signal }),
  });
export const usePlatformHosts = () =>
  useQuery({
    queryKey: ["page", "platform", "hosts"],
    queryFn: ({ signal }) => api.get("/api/v1/operator/hosts", { signal }),
  });

export type HostAct = HostPlan["act"];
export const usePlatformHost = (hostId: string) =>
  useQuery({
    queryKey: ["page", "platform", "hosts", hostId],
    queryFn: ({ signal }) => api.get("/api/v1/operator/hosts/{host_id}", { blanks: { host_id: hostId }, signal }),
    refetchInterval: 15_000,
  });
/** What an act on the host would mean now; asked again each time that the form is opened. */
export const useHostPlan = (hostId: string, act: HostAct) =>
  useQuery({
    queryKey: ["page", "platform", "hosts", hostId, "plan", act],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operator/hosts/{host_id}/plans/{act}", { blanks: { host_id: hostId, act }, signal }),
    gcTime: 0,
  });
export const useHostEvents = (hostId: string) =>
  useQuery({
    queryKey: ["page", "platform", "hosts", hostId, "events"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/operator/hosts/{host_id}/events", {
        blanks: { host_id: hostId },
        query: { page_size: 20 },
        signal,
      }),
  });

/** A write; when it is done, what is shown is read again, and `done` is said. */
export function useChange<Given, Answer>(
  send: (given: Given) => Promise<Answer>,
  done?: (answer: Answer) => string,
  /** What else is shown by it. */
  also: readonly QueryFilters[] = [],
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: (answer) => {
      for (const filters of [{ queryKey: ["page"] }, ...also]) void client.invalidateQueries(filters);
      if (done) notifications.show({ message: done(answer) });
    },
    onError: (error) => {
      if (isOutdated(error)) void client.invalidateQueries({ queryKey: ["page"] });
    },
  });
}

/** A one-time link as people open it: behind the `#`, so that it is sent to no server. */
export const linkOf = (path: string): string => `${window.location.origin}${path}`;
