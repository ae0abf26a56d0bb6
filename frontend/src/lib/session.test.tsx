import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { describe, expect, it } from "vitest";
import { SIGNED_OUT, session } from "@/testing/samples";
import { serve } from "@/testing/server";
import { useLogin, useLogout, useSession, useSwitchTenant } from "./session";

function world() {
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const hooks = renderHook(
    () => ({ session: useSession(), login: useLogin(), logout: useLogout(), choose: useSwitchTenant() }),
    { wrapper },
  );
  return { client, hooks };
}

describe("the session", () => {
  it("opens with a login, and nothing that was read before it stays", async () => {
    const asked = serve({ "GET /console/api/session": SIGNED_OUT, "POST /console/api/login": session() });
    const { client, hooks } = world();
    await waitFor(() => expect(hooks.result.current.session.data?.user).toBeNull());
    client.setQueryData(["page", "overview"], "somebody else's");
    await act(() => hooks.result.current.login.mutateAsync({ username: "ada", password: "secret" }));
    await waitFor(() => expect(hooks.result.current.session.data?.user?.username).toBe("ada"));
    expect(client.getQueryData(["page", "overview"])).toBeUndefined();
    expect(asked.at(-1)).toEqual({
      method: "POST",
      url: "/console/api/login",
      body: { username: "ada", password: "secret" },
    });
  });

  it.each([
    ["signing out", "POST /console/api/logout", SIGNED_OUT],
    [
      "choosing another tenant",
      "POST /console/api/tenant",
      session({ tenant: { id: "tn_2", slug: "rival", name: "Rival", role: "viewer", state: "active" } }),
    ],
  ])("forgets pages and drafts on %s", async (_, endpoint, answer) => {
    serve({ "GET /console/api/session": session(), [endpoint]: answer });
    const { client, hooks } = world();
    await waitFor(() => expect(hooks.result.current.session.data?.tenant?.slug).toBe("acme"));
    client.setQueryData(["page", "overview"], "the old tenant's");
    sessionStorage.setItem("penstock.draft.new-cluster", '"kept"');
    await act(async () => {
      await (endpoint.endsWith("logout")
        ? hooks.result.current.logout.mutateAsync()
        : hooks.result.current.choose.mutateAsync("rival"));
    });
    await waitFor(() => expect(hooks.result.current.session.data).toEqual(answer));
    expect(client.getQueryData(["page", "overview"])).toBeUndefined();
    expect(sessionStorage).toHaveLength(0);
  });
});
