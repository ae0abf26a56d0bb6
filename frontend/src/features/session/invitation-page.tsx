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
import { roleWord } from "@/lib/grant-words";
import { words } from "@/words/session";

const say = words.invitationPage;

/** A one-time link. Its text stands behind the `#`: no server has seen it before this page asks. */
export function InvitationPage() {
  useDocumentTitle(say.invitationPenstock);
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
      <Notice tone="warn" title={say.theLinkIsNotWhole}>
        {say.copyAllOfItWith}
      </Notice>
    );
  } else if (session.isError) {
    body = <ProblemPanel error={session.error} onRetry={() => void session.refetch()} />;
  } else if (found.isError) body = <ProblemPanel error={found.error} />;
  else if (!found.data) {
    body = (
      <Stack gap={10} aria-busy="true" aria-label={say.loading}>
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
  if (!invitation) return say.invitation;
  return invitation.leads_to === "tenant" ? say.join(invitation.tenant ?? "") : say.chooseAPassword;
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
            ? say.youWillBeOf(
                invitation.role ? roleWord(invitation.role) : say.aMember,
                invitation.tenant ?? say.theTenant,
              )
            : say.forTheLoginSessionsOf(invitation.username ?? "")}
        </Text>
        {asPresent && <Text size="sm">{say.youJoinAsWhoIs(signedIn)}</Text>}
        {joins && !asPresent && (
          <>
            <Text size="sm" c="dimmed">
              {say.youHaveALoginAlready}
            </Text>
            <TextInput
              label={say.userName}
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
            label={say.password}
            description={say.atLeast10CharactersNone}
            autoComplete="new-password"
            required
            withAsterisk={false}
            size="sm"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        {accept.isError && <ProblemPanel error={accept.error} />}
        <Button type="submit" size="sm" fullWidth mt={4} loading={accept.isPending}>
          {joins ? say.join2 : say.setThePassword}
        </Button>
      </Stack>
    </form>
  );
}
