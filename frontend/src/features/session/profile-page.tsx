import { Button, PasswordInput, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { Card } from "@/components/card";
import { Notice } from "@/components/notice";
import { PageHeader } from "@/components/page-header";
import { ProblemPanel } from "@/components/problem-panel";
import { useChangePassword, useSession } from "@/lib/session";

const SHOW = { "aria-label": "Show what is typed" } as const;

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
          notifications.show({ message: "The password was changed. Your other sessions have ended." });
        },
      },
    );
  };
  return (
    <>
      <PageHeader title="Profile" sub={`Signed in as ${session?.user?.username ?? "nobody"}.`} />
      <Stack gap="md" maw={520}>
        <Card title="Tenants" padded>
          <ul style={{ margin: 0, paddingLeft: 18 }} aria-label="Tenants">
            {session?.tenants.map((tenant) => (
              <li key={tenant.id}>
                {tenant.name} <span className="ps-muted">as {tenant.role}</span>
              </li>
            ))}
          </ul>
          {session?.tenants.length === 0 && <Notice tone="info">You belong to no tenant yet.</Notice>}
        </Card>
        <Card title="Password" padded>
          <form onSubmit={submit}>
            <Stack gap="sm">
              <PasswordInput
                label="Present password"
                autoComplete="current-password"
                visibilityToggleFocusable
                visibilityToggleButtonProps={SHOW}
                value={oldPassword}
                onChange={(event) => setOldPassword(event.currentTarget.value)}
              />
              <PasswordInput
                label="New password"
                description="At least 10 characters, none of the common ones."
                autoComplete="new-password"
                visibilityToggleFocusable
                visibilityToggleButtonProps={SHOW}
                value={newPassword}
                onChange={(event) => setNewPassword(event.currentTarget.value)}
              />
              <PasswordInput
                label="New password again"
                autoComplete="new-password"
                visibilityToggleFocusable
                visibilityToggleButtonProps={SHOW}
                error={differs ? "It differs from the one above." : undefined}
                value={again}
                onChange={(event) => setAgain(event.currentTarget.value)}
              />
              {change.isError && <ProblemPanel error={change.error} />}
              <Button type="submit" disabled={!ready} loading={change.isPending} style={{ alignSelf: "flex-start" }}>
                Change password
              </Button>
            </Stack>
          </form>
        </Card>
      </Stack>
    </>
  );
}
