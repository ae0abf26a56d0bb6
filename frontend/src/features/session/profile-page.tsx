import { Button, PasswordInput, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { useChangePassword, useSession } from "@/lib/session";
import { roleWord } from "@/lib/grant-words";
import { words } from "@/words/session";

const say = words.profilePage;

export function ProfilePage() {
  const { data: session } = useSession();
  const change = useChangePassword();
  const [oldPassword, setOldPassword] = useState("");
  const [newPassword, setNewPassword] = useState("");
  const [again, setAgain] = useState("");
  const differs = again !== "" && again !== newPassword;
  const ready = oldPassword !== "" && newPassword !== "" && again === newPassword;
  const submit = (event: React.FormEvent) => {
    event.preventDefault();
    if (!ready) return;
    change.mutate(
      { old_password: oldPassword, new_password: newPassword },
      {
        onSuccess: () => {
          setOldPassword("");
          setNewPassword("");
          setAgain("");
          notifications.show({ message: say.thePasswordWasChangedYour });
        },
      },
    );
  };
  return (
    <>
      <PageHeader title={say.profile} sub={say.signedInAs(session?.user?.username ?? say.nobody)} />
      <Stack gap="md" maw={520}>
        <Card title={say.tenants} padded>
          <ul style={{ margin: 0, paddingLeft: 18 }} aria-label={say.tenants}>
            {session?.tenants.map((tenant) => (
              <li key={tenant.id}>
                {tenant.name} <span className="ps-muted">{say.as(roleWord(tenant.role))}</span>
              </li>
            ))}
          </ul>
          {session?.tenants.length === 0 && <Notice tone="info">{say.youBelongToNoTenant}</Notice>}
        </Card>
        <Card title={say.password} padded>
          <form onSubmit={submit}>
            <Stack gap="sm">
              <PasswordInput
                label={say.presentPassword}
                autoComplete="current-password"
                value={oldPassword}
                onChange={(event) => setOldPassword(event.currentTarget.value)}
              />
              <PasswordInput
                label={say.newPassword}
                description={say.atLeast10CharactersNone}
                autoComplete="new-password"
                value={newPassword}
                onChange={(event) => setNewPassword(event.currentTarget.value)}
              />
              <PasswordInput
                label={say.newPasswordAgain}
                autoComplete="new-password"
                error={differs ? say.itDiffersFromTheOne : undefined}
                value={again}
                onChange={(event) => setAgain(event.currentTarget.value)}
              />
              {change.isError && <ProblemPanel error={change.error} />}
              <Button type="submit" disabled={!ready} loading={change.isPending} style={{ alignSelf: "flex-start" }}>
                {say.changePassword}
              </Button>
            </Stack>
          </form>
        </Card>
      </Stack>
    </>
  );
}
