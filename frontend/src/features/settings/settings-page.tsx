import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { PageHeader } from "@/components/page-header";
import { useSession } from "@/lib/session";
import { SETTINGS_TABS } from "@/lib/search";
import { words } from "@/words/settings";
import { AccountsTab } from "./accounts-tab";
import { MasksTab } from "./masks-tab";
import { MembersTab } from "./members-tab";

const say = words.settingsPage;

const route = getRouteApi("/app/settings");

/** The tenant's own administration. Everybody in it reads; owners change. */
export function SettingsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  const tenant = session?.tenant;
  const isOwner = tenant?.role === "owner" && tenant.state === "active";
  const change = (value: string | null) =>
    void navigate({ search: { tab: SETTINGS_TABS.find((tab) => tab === value && tab !== "members") }, replace: true });
  return (
    <>
      <PageHeader
        title={say.settings}
        sub={isOwner ? say.whoAndWhatMayAct(tenant.name) : say.whoAndWhatMayActForIts(tenant?.name ?? say.theTenant)}
      />
      <Tabs value={search.tab ?? "members"} keepMounted={false} onChange={change}>
        <Tabs.List mb={12}>
          <Tabs.Tab value="members">{say.members}</Tabs.Tab>
          <Tabs.Tab value="accounts">{say.serviceAccountsAndKeys}</Tabs.Tab>
          <Tabs.Tab value="masks">{say.messageMasks}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="members">
          <MembersTab isOwner={isOwner} />
        </Tabs.Panel>
        <Tabs.Panel value="accounts">
          <AccountsTab isOwner={isOwner} />
        </Tabs.Panel>
        <Tabs.Panel value="masks">
          <MasksTab isOwner={isOwner} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
