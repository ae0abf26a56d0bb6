import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { PageHeader } from "@/components/page-header";
import { Refused } from "@/components/refused";
import { PLATFORM_TABS } from "@/lib/search";
import { ApiError } from "@/lib/problem";
import { useSession } from "@/lib/session";
import { BackfillsTab } from "./backfills-tab";
import { HostsTab } from "./hosts-tab";
import { TenantsTab } from "./tenants-tab";
import { UsersTab } from "./users-tab";

const route = getRouteApi("/app/platform");
const NOT_HERE = new ApiError({
  status: 403,
  title: "This is for operators of the platform",
  detail: "Another operator can make you one.",
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
      <PageHeader title="Platform" sub="All tenants, users and hosts. Only operators of the platform see this." />
      <Tabs value={search.tab ?? "tenants"} keepMounted={false} onChange={change}>
        <Tabs.List mb={12}>
          <Tabs.Tab value="tenants">Tenants</Tabs.Tab>
          <Tabs.Tab value="users">Users</Tabs.Tab>
          <Tabs.Tab value="hosts">Hosts</Tabs.Tab>
          <Tabs.Tab value="backfills">Backfills</Tabs.Tab>
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
        <Tabs.Panel value="backfills">
          <BackfillsTab />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
