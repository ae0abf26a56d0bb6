import { Button, Center, PasswordInput, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useLocation, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { Mark } from "@/components/mark";
import { Notice } from "@/components/notice";
import { ProblemPanel } from "@/components/problem-panel";
import { api } from "@/lib/api-client";
import { useAcceptInvitation, useSession } from "@/lib/session";
import type { OpenInvitation } from "@/lib/types";

/** A one-time link. Its text stands behind the `#`: no server has seen it before this page asks. */
export function InvitationPage() {
  useDocumentTitle("Invitation · Penstock");
  const token = useLocation().hash;
  const session = useSession();
  const found = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => api.post("/console/api/invitation", { body: { token } }),
    enabled: token !== "" && session.data !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  let body;
  if (token === "") {
    body = (
      <Notice tone="warn" title="The link is not whole">
        Copy all of it, with what follows the #.
      </Notice>
    );
  } else if (session.isError) {
    body = <ProblemPanel error={session.error} onRetry={() => void session.refetch()} />;
  } else if (found.isError) body = <ProblemPanel error={found.error} />;
  else if (!found.data) {
    body = (
      <Stack gap={10} aria-busy="true" aria-label="Loading">
        <Skeleton height={14} />
        <Skeleton height={14} width="70%" />
      </Stack>
    );
  } else body = <Acceptance token={token} invitation={found.data} signedIn={session.data?.user?.username ?? null} />;
  return (
    <Center mih="100dvh" px="md" style={{ background: "var(--ps-sidebar)" }}>
      <main style={{ width: 380, maxWidth: "100%", paddingBottom: "8vh" }}>
        <Stack gap={2} align="center" mb="lg">
          <Mark size={44} />
          <h1 style={{ margin: "10px 0 0", fontSize: "1.25rem" }}>{titleOf(found.data)}</h1>
        </Stack>
        <div className="ps-card" style={{ padding: 20 }}>
          {body}
        </div>
      </main>
    </Center>
  );
}

function titleOf(invitation: OpenInvitation | undefined): string {
  if (!invitation) return "Invitation";
  return invitation.leads_to === "tenant" ? `Join ${invitation.tenant ?? ""}` : "Choose a password";
}

interface AcceptanceProps {
  token: string;
  invitation: OpenInvitation;
  signedIn: string | null;
}

function Acceptance({ token, invitation, signedIn }: AcceptanceProps) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const accept = useAcceptInvitation();
  const router = useRouter();
  const joins = invitation.leads_to === "tenant";
  const asPresent = joins && signedIn !== null;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    accept.mutate({ token, username, password }, { onSuccess: () => void router.navigate({ to: "/" }) });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">
          {joins
            ? `You will be ${invitation.role ?? "a member"} of ${invitation.tenant ?? "the tenant"}.`
            : `For the login ${invitation.username ?? ""}. Sessions of an earlier password end.`}
        </Text>
        {asPresent && <Text size="sm">You join as {signedIn}, who is signed in here.</Text>}
        {joins && !asPresent && (
          <>
            <Text size="sm" c="dimmed">
              You have a login already? Sign in first, then open the link again.
            </Text>
            <TextInput
              label="User name"
              autoComplete="username"
              required
              withAsterisk={false}
              size="sm"
              value={username}
              onChange={(event) => setUsername(event.currentTarget.value)}
            />
          </>
        )}
        {!asPresent && (
          <PasswordInput
            label="Password"
            description="At least 10 characters, none of the common ones."
            autoComplete="new-password"
            visibilityToggleFocusable
            visibilityToggleButtonProps={{ "aria-label": "Show what is typed" }}
            required
            withAsterisk={false}
            size="sm"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        {accept.isError && <ProblemPanel error={accept.error} />}
        <Button type="submit" size="sm" fullWidth mt={4} loading={accept.isPending}>
          {joins ? "Join" : "Set the password"}
        </Button>
      </Stack>
    </form>
  );
}
