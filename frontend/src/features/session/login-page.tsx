import { Button, Center, Divider, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import type { SIGN_IN_FAILURES } from "@/lib/search";
import { useLogin, useSession } from "@/lib/session";
import { Mark } from "@/components/mark";
import { words } from "@/words/session";

const say = words.loginPage;

const route = getRouteApi("/login");

const FAILED: Record<(typeof SIGN_IN_FAILURES)[number], [title: string, detail: string]> = {
  away: [say.theProviderCannotBeReached, say.tryAgainInAMoment],
  "not-valid": [say.theSignInCouldNot, say.itTookTooLongOr],
  "not-allowed": [say.youHaveNoAccessHere, say.youAreSignedInThere],
};

export function LoginPage() {
  useDocumentTitle(say.signInPenstock);
  const { next, failed } = route.useSearch();
  const router = useRouter();
  const login = useLogin();
  // The session read sets the CSRF cookie and token that the form needs.
  const session = useSession();
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const { passwords = true, provider = null } = session.data?.sign_in ?? {};
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    login.mutate({ username, password }, { onSuccess: () => router.history.push(next ?? "/") });
  };
  return (
    <Center mih="100dvh" px="md" style={{ background: "var(--ps-sidebar)" }}>
      <main style={{ width: 340, maxWidth: "100%", paddingBottom: "8vh" }}>
        <Stack gap={2} align="center" mb="lg">
          <Mark size={44} />
          <h1 style={{ margin: "10px 0 0", fontSize: "1.25rem" }}>{say.signInToPenstock}</h1>
          <Text size="sm" c="dimmed" ta="center">
            {say.kafkaCompatibleClustersAsA}
          </Text>
        </Stack>
        <form onSubmit={submit} className="ps-card" style={{ padding: 20 }}>
          <Stack gap="sm">
            {failed && (
              <Notice tone="bad" title={FAILED[failed][0]}>
                {FAILED[failed][1]}
              </Notice>
            )}
            {provider !== null && (
              <Button
                component="a"
                href={`/console/oidc/login${next ? `?${new URLSearchParams({ next }).toString()}` : ""}`}
                variant={passwords ? "default" : "filled"}
                size="sm"
                fullWidth
              >
                {say.signInWith(provider)}
              </Button>
            )}
            {provider !== null && passwords && <Divider label={say.or} />}
            {passwords && (
              <>
                <TextInput
                  label={say.userName}
                  name="username"
                  autoComplete="username"
                  autoFocus
                  required
                  withAsterisk={false}
                  size="sm"
                  value={username}
                  onChange={(event) => setUsername(event.currentTarget.value)}
                />
                <PasswordInput
                  label={say.password}
                  name="password"
                  autoComplete="current-password"
                  required
                  withAsterisk={false}
                  size="sm"
                  value={password}
                  onChange={(event) => setPassword(event.currentTarget.value)}
                />
              </>
            )}
            {login.isError && <ProblemPanel error={login.error} />}
            {session.isError && <ProblemPanel error={session.error} onRetry={() => void session.refetch()} />}
            {passwords && (
              <Button type="submit" size="sm" fullWidth mt={4} loading={login.isPending} disabled={session.isPending}>
                {say.signIn}
              </Button>
            )}
          </Stack>
        </form>
      </main>
    </Center>
  );
}
