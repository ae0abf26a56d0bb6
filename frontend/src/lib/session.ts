/** Who is signed in, for which tenant. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, setCsrfToken } from "./api-client";
import { clearDrafts } from "./draft";

export interface Tenant {
  id: string;
  slug: string;
  name: string;
  role?: "owner" | "operator" | "viewer";
}

export interface Session {
  user: { username: string; email?: string; is_staff: boolean } | null;
  tenant: Tenant | null;
  tenants: Tenant[];
  csrf_token: string;
  /** Whether this user may change things in the current tenant. */
  can_write: boolean;
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => remember(await api.get<Session>("/console/api/session", signal)),
  staleTime: 5 * 60_000,
});

function remember(session: Session): Session {
  setCsrfToken(session.csrf_token);
  return session;
}

export const useSession = () => useQuery(sessionQuery);

export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { username: string; password: string }) => api.post<Session>("/console/api/login", input),
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}

export function useLogout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.post<Session>("/console/api/logout"),
    onSuccess: (session) => {
      client.clear();
      clearDrafts();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}

export function useSwitchTenant() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (slug: string) => api.post<Session>("/console/api/tenant", { slug }),
    onSuccess: (session) => {
      client.clear();
      clearDrafts();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}
