import {
  IconArrowsExchange,
  IconBell,
  IconBook2,
  IconBuilding,
  IconChartHistogram,
  IconClipboardList,
  IconGitCompare,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconReceipt2,
  IconReportMoney,
  IconSend,
  IconServer2,
  IconSettings,
  IconStack2,
  IconTargetArrow,
  IconTimelineEvent,
  IconUsersGroup,
} from "@tabler/icons-react";
import { Link, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { AlertBadge } from "@/components/alert-badge";
import { PlainSelect } from "@/components/plain-select";
import { useSession } from "@/lib/session";
import { useOverview } from "@/lib/use-clusters";
import { useLastCluster } from "@/lib/use-last-cluster";
import { words } from "@/words";
import { TenantSwitch } from "./tenant-switch";

const say = words.navigation;
const ICON = { size: 17, stroke: 1.7, "aria-hidden": true } as const;

/** How the router marks the link of the page that is open. */
const HERE = { "data-status": "active", "aria-current": "page" } as const;

/** Where a page belongs whose address does not begin with that of its place. */
function placeOf(pathname: string): "overview" | "cluster" | "topics" | null {
  const [, area, cluster, section] = pathname.split("/");
  if (area !== "clusters") return null;
  if (section === undefined) return cluster === "new" || cluster === "register" ? "overview" : null;
  if (section === "brokers" || section === "credentials") return "cluster";
  return section === "new-topic" ? "topics" : null;
}

export function SideNav() {
  const { clusterId: opened } = useParams({ strict: false });
  const { data } = useOverview();
  const { data: session } = useSession();
  const clusters = data?.parts.clusters.data ?? [];
  // Outside a cluster its links stay.
  const clusterId = useLastCluster(opened)?.id ?? opened;
  const navigate = useNavigate();
  const { pathname } = useLocation();
  return (
    <nav aria-label={say.main} style={{ paddingBottom: 16 }}>
      <TenantSwitch />
      <div className="ps-nav" style={{ marginTop: 6 }}>
        <Link to="/" activeOptions={{ exact: true }} {...(placeOf(pathname) === "overview" && HERE)}>
          <IconLayoutDashboard {...ICON} /> {say.overview}
        </Link>
        <Link to="/alerts" activeOptions={{ includeSearch: false }}>
          <IconBell {...ICON} /> {say.alerts} <AlertBadge />
        </Link>
        <Link to="/runbooks" activeOptions={{ includeSearch: false }}>
          <IconBook2 {...ICON} /> {say.runbooks}
        </Link>
        <Link to="/destinations" activeOptions={{ includeSearch: false }}>
          <IconSend {...ICON} /> {say.destinations}
        </Link>
        <Link to="/objectives" activeOptions={{ includeSearch: false }}>
          <IconTargetArrow {...ICON} /> {say.objectives}
        </Link>
        <Link to="/usage" activeOptions={{ includeSearch: false }}>
          <IconReceipt2 {...ICON} /> {say.tenantUsage}
        </Link>
        <Link to="/operations">
          <IconListDetails {...ICON} /> {say.operations}
        </Link>
        <Link to="/audit">
          <IconClipboardList {...ICON} /> {say.audit}
        </Link>
        <Link to="/settings" activeOptions={{ includeSearch: false }}>
          <IconSettings {...ICON} /> {say.settings}
        </Link>
        {session?.user?.is_staff && (
          <Link to="/platform" activeOptions={{ includeSearch: false }}>
            <IconBuilding {...ICON} /> {say.platform}
          </Link>
        )}
      </div>
      <div className="ps-nav-title">{say.cluster}</div>
      {clusters.length > 0 && (
        <div style={{ padding: "0 12px 6px" }}>
          <PlainSelect
            label={say.cluster}
            options={clusters.map((cluster) => ({ value: cluster.id, label: cluster.name }))}
            value={clusterId}
            onPick={(id) => void navigate({ to: "/clusters/$clusterId", params: { clusterId: id } })}
          />
        </div>
      )}
      <div className="ps-nav">{clusterId ? <ClusterLinks clusterId={clusterId} /> : <ClusterHints />}</div>
    </nav>
  );
}

function ClusterHints() {
  return (
    <span className="ps-muted" style={{ padding: "2px 10px", fontSize: "0.75rem" }}>
      {say.noCluster}
    </span>
  );
}

function ClusterLinks({ clusterId }: { clusterId: string }) {
  const params = { clusterId };
  const place = placeOf(useLocation().pathname);
  return (
    <>
      <Link
        to="/clusters/$clusterId"
        params={params}
        activeOptions={{ exact: true }}
        {...(place === "cluster" && HERE)}
      >
        <IconServer2 {...ICON} /> {say.brokers}
      </Link>
      <Link to="/clusters/$clusterId/events" params={params} activeOptions={{ includeSearch: false }}>
        <IconTimelineEvent {...ICON} /> {say.events}
      </Link>
      <Link
        to="/clusters/$clusterId/topics"
        params={params}
        activeOptions={{ includeSearch: false }}
        {...(place === "topics" && HERE)}
      >
        <IconStack2 {...ICON} /> {say.topics}
      </Link>
      <Link to="/clusters/$clusterId/groups" params={params} activeOptions={{ includeSearch: false }}>
        <IconUsersGroup {...ICON} /> {say.groups}
      </Link>
      <Link to="/clusters/$clusterId/analytics" params={params} activeOptions={{ includeSearch: false }}>
        <IconChartHistogram {...ICON} /> {say.analytics}
      </Link>
      <Link to="/clusters/$clusterId/usage" params={params} activeOptions={{ includeSearch: false }}>
        <IconReportMoney {...ICON} /> {say.clusterUsage}
      </Link>
      <Link to="/clusters/$clusterId/access" params={params} activeOptions={{ includeSearch: false }}>
        <IconKey {...ICON} /> {say.access}
      </Link>
      <Link to="/clusters/$clusterId/reassign" params={params} activeOptions={{ includeSearch: false }}>
        <IconArrowsExchange {...ICON} /> {say.reassign}
      </Link>
      <Link to="/clusters/$clusterId/drift" params={params} activeOptions={{ includeSearch: false }}>
        <IconGitCompare {...ICON} /> {say.drift}
      </Link>
    </>
  );
}
