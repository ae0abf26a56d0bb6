/** Who is signed in, for which tenant. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { words } from "@/words";
import type { BodyOf } from "./addresses";
import { api, setCsrfToken } from "./api-client";
import { clearDrafts } from "./draft";
import { clearRecent } from "./recent";
import { ApiError } from "./problem";
import { setSignedOut } from "./signed-out";
import type { Session } from "./types";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => remember(await api.get("/console/api/session", { signal })),
  staleTime: 5 * 60_000,
});

function remember(session: Session): Session {
  setCsrfToken(session.csrf_token);
  return session;
}

const isOfTenant = ({ queryKey }: { queryKey: readonly unknown[] }): boolean =>
  queryKey[0] !== sessionQuery.queryKey[0];

export const useSession = () => useQuery(sessionQuery);

export function useLogin() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: BodyOf<"/console/api/login">) => api.post("/console/api/login", { body }),
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}

/** What the server says of whoever has no session, and the CSRF token with which to open one. */
export const anonymousQuery = queryOptions({
  queryKey: ["sign-in"],
  queryFn: async ({ signal }) => remember(await api.get("/console/api/session", { signal })),
  staleTime: 0,
  gcTime: 0,
});

/** A session in the place of one that has ended, for the same person and tenant: what is shown stays and is asked
 * for again. Without a login it is one that was opened in another window. Somebody else sees nothing of before. */
export function useSignInAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (body: BodyOf<"/console/api/login"> | null) => {
      const before = client.getQueryData(sessionQuery.queryKey);
      const answer = body ? api.post("/console/api/login", { body }) : api.get("/console/api/session", {});
      const session = remember(await answer);
      if (session.user === null) throw new ApiError({ title: words.common.errors.notSignedIn, status: 401 });
      const slug = before?.tenant?.slug;
      if (session.user.username !== before?.user?.username || !slug || slug === session.tenant?.slug) return session;
      return remember(await api.post("/console/api/tenant", { body: { slug } }));
    },
    onSuccess: (session) => {
      const before = client.getQueryData(sessionQuery.queryKey);
      const isSame = before?.user?.username === session.user?.username && before?.tenant?.slug === session.tenant?.slug;
      if (!isSame) {
        client.clear();
        clearDrafts();
        clearRecent();
      }
      client.setQueryData(sessionQuery.queryKey, session);
      setSignedOut(false);
      if (isSame) void client.invalidateQueries({ predicate: isOfTenant });
      else window.location.assign("/");
    },
  });
}

/** Opens a one-time link; afterwards its user is signed in. */
export function useAcceptInvitation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: BodyOf<"/console/api/invitation/acceptance">) =>
      api.post("/console/api/invitation/acceptance", { body }),
    onSuccess: (session) => {
      client.clear();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}

/** The new password brings a new CSRF token with it. */
export function useChangePassword() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: BodyOf<"/console/api/password">) => api.post("/console/api/password", { body }),
    onSuccess: (session) => client.setQueryData(sessionQuery.queryKey, remember(session)),
  });
}

export function useLogout() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.post("/console/api/logout", {}),
    onSuccess: (session) => {
      client.clear();
      clearDrafts();
      clearRecent();
      client.setQueryData(sessionQuery.queryKey, remember(session));
    },
  });
}

export function useSwitchTenant() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (slug: string) => api.post("/console/api/tenant", { body: { slug } }),
    onSuccess: (session) => {
      clearDrafts();
      client.setQueryData(sessionQuery.queryKey, remember(session));
      // The page stays: what it shows of the other tenant is emptied and asked for again at once. A cleared
      // cache would leave it on the screen, for who looks at a query does not see it go.
      client.removeQueries({ predicate: isOfTenant, type: "inactive" });
      void client.resetQueries({ predicate: isOfTenant });
    },
  });
}
