import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { PageHeader } from "@/components/page-header";
import { Refused } from "@/components/refused";
import { PLATFORM_TABS } from "@/lib/search";
import { ApiError } from "@/lib/problem";
import { useSession } from "@/lib/session";
import { words } from "@/words/platform";
import { BackfillsTab } from "./backfills-tab";
import { HostsTab } from "./hosts-tab";
import { NotificationsTab } from "./notifications-tab";
import { TenantsTab } from "./tenants-tab";
import { UsersTab } from "./users-tab";

const say = words.platformPage;

const route = getRouteApi("/app/platform");
const NOT_HERE = new ApiError({
  status: 403,
  title: say.thisIsForOperatorsOf,
  detail: say.anotherOperatorCanMakeYou,
});

/** What is above tenants. The server decides; this page only spares everybody else the question. */
export function PlatformPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: session } = useSession();
  if (session && !session.user?.is_staff) return <Refused error={NOT_HERE} />;
  const change = (value: string | null) =>
    void navigate({ search: { tab: PLATFORM_TABS.find((tab) => tab === value) }, replace: true });
  return (
    <>
      <PageHeader title={say.platform} sub={say.allTenantsUsersAndHosts} />
      <Tabs value={search.tab ?? "tenants"} keepMounted={false} onChange={change}>
        <Tabs.List mb={12}>
          <Tabs.Tab value="tenants">{say.tenants}</Tabs.Tab>
          <Tabs.Tab value="users">{say.users}</Tabs.Tab>
          <Tabs.Tab value="hosts">{say.hosts}</Tabs.Tab>
          <Tabs.Tab value="notifications">{say.notifications}</Tabs.Tab>
          <Tabs.Tab value="backfills">{say.backfills}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tenants">
          <TenantsTab />
        </Tabs.Panel>
        <Tabs.Panel value="users">
          <UsersTab />
        </Tabs.Panel>
        <Tabs.Panel value="hosts">
          <HostsTab />
        </Tabs.Panel>
        <Tabs.Panel value="notifications">
          <NotificationsTab />
        </Tabs.Panel>
        <Tabs.Panel value="backfills">
          <BackfillsTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
