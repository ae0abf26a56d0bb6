import { Button, Group, Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { ProblemPanel } from "@/components/problem-panel";
import { anonymousQuery, useSession, useSignInAgain } from "@/lib/session";
import { setSignedOut } from "@/lib/signed-out";
import { words } from "@/words/frame";

const say = words.signInAgainDialog;

/** The login in place: the page behind it stays, with what was typed into it. */
export function SignInAgainDialog({ isGone }: { isGone: boolean }) {
  return (
    <Modal
      opened={isGone}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={<strong>{say.signInAgain}</strong>}
    >
      {isGone && <Form />}
    </Modal>
  );
}

function Form() {
  const router = useRouter();
  const session = useSession();
  // Its read brings the CSRF token that the login needs.
  const anonymous = useQuery(anonymousQuery);
  const again = useSignInAgain();
  const [password, setPassword] = useState("");
  const username = session.data?.user?.username ?? "";
  const { passwords = true, provider = null } = anonymous.data?.sign_in ?? {};
  const leave = () => {
    setSignedOut(false);
    window.location.assign("/login");
  };
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    again.mutate({ username, password }, { onSuccess: () => void router.invalidate() });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">{say.yourSessionHasEndedThis}</Text>
        {passwords && (
          <>
            <input type="hidden" name="username" autoComplete="username" value={username} readOnly />
            <PasswordInput
              label={say.passwordOf(username)}
              name="password"
              autoComplete="current-password"
              data-autofocus
              required
              withAsterisk={false}
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
            />
          </>
        )}
        {again.isError && <ProblemPanel error={again.error} />}
        {anonymous.isError && <ProblemPanel error={anonymous.error} onRetry={() => void anonymous.refetch()} />}
        {provider !== null && (
          <Text size="sm">
            {say.thenComeBackAndContinue(
              <a href="/console/oidc/login" target="_blank" rel="noreferrer">
                {say.signInWithInA(provider)}
              </a>,
            )}
          </Text>
        )}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={leave}>
            {say.leaveThisPage}
          </Button>
          {provider !== null && (
            <Button variant="default" onClick={() => again.mutate(null)} loading={again.isPending}>
              {say.continue}
            </Button>
          )}
          {passwords && (
            <Button type="submit" loading={again.isPending} disabled={anonymous.isPending || password === ""}>
              {say.signIn}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
