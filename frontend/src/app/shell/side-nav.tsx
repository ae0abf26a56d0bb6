import {
  IconArrowsExchange,
  IconBell,
  IconBook2,
  IconBuilding,
  IconChartHistogram,
  IconClipboardList,
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
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { AlertBadge } from "@/components/alert-badge";
import { PlainSelect } from "@/components/plain-select";
import { useSession } from "@/lib/session";
import { useOverview } from "@/lib/use-clusters";
import { useLastCluster } from "@/lib/use-last-cluster";
import { TenantSwitch } from "./tenant-switch";

const ICON = { size: 17, stroke: 1.7, "aria-hidden": true } as const;

export function SideNav() {
  const { clusterId: opened } = useParams({ strict: false });
  const { data } = useOverview();
  const { data: session } = useSession();
  const clusters = data?.parts.clusters.data ?? [];
  // Outside a cluster its links stay.
  const clusterId = useLastCluster(opened)?.id ?? opened;
  const navigate = useNavigate();
  return (
    <nav aria-label="Main" style={{ paddingBottom: 16 }}>
      <TenantSwitch />
      <div className="ps-nav" style={{ marginTop: 6 }}>
        <Link to="/" activeOptions={{ exact: true }}>
          <IconLayoutDashboard {...ICON} /> Overview
        </Link>
        <Link to="/alerts" activeOptions={{ includeSearch: false }}>
          <IconBell {...ICON} /> Alerts <AlertBadge />
        </Link>
        <Link to="/runbooks" activeOptions={{ includeSearch: false }}>
          <IconBook2 {...ICON} /> Runbooks
        </Link>
        <Link to="/destinations" activeOptions={{ includeSearch: false }}>
          <IconSend {...ICON} /> Destinations
        </Link>
        <Link to="/objectives" activeOptions={{ includeSearch: false }}>
          <IconTargetArrow {...ICON} /> Lag objectives
        </Link>
        <Link to="/usage" activeOptions={{ includeSearch: false }}>
          <IconReceipt2 {...ICON} /> Usage and cost
        </Link>
        <Link to="/operations">
          <IconListDetails {...ICON} /> Operations
        </Link>
        <Link to="/audit">
          <IconClipboardList {...ICON} /> Audit
        </Link>
        <Link to="/settings" activeOptions={{ includeSearch: false }}>
          <IconSettings {...ICON} /> Settings
        </Link>
        {session?.user?.is_staff && (
          <Link to="/platform" activeOptions={{ includeSearch: false }}>
            <IconBuilding {...ICON} /> Platform
          </Link>
        )}
      </div>
      <div className="ps-nav-title">Cluster</div>
      {clusters.length > 0 && (
        <div style={{ padding: "0 12px 6px" }}>
          <PlainSelect
            label="Cluster"
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
      No cluster yet.
    </span>
  );
}

function ClusterLinks({ clusterId }: { clusterId: string }) {
  const params = { clusterId };
  return (
    <>
      <Link to="/clusters/$clusterId" params={params} activeOptions={{ exact: true }}>
        <IconServer2 {...ICON} /> Brokers
      </Link>
      <Link to="/clusters/$clusterId/events" params={params} activeOptions={{ includeSearch: false }}>
        <IconTimelineEvent {...ICON} /> Events
      </Link>
      <Link to="/clusters/$clusterId/topics" params={params} activeOptions={{ includeSearch: false }}>
        <IconStack2 {...ICON} /> Topics
      </Link>
      <Link to="/clusters/$clusterId/groups" params={params} activeOptions={{ includeSearch: false }}>
        <IconUsersGroup {...ICON} /> Consumer groups
      </Link>
      <Link to="/clusters/$clusterId/analytics" params={params} activeOptions={{ includeSearch: false }}>
        <IconChartHistogram {...ICON} /> Lag and retention
      </Link>
      <Link to="/clusters/$clusterId/usage" params={params} activeOptions={{ includeSearch: false }}>
        <IconReportMoney {...ICON} /> Usage and forecasts
      </Link>
      <Link to="/clusters/$clusterId/access" params={params} activeOptions={{ includeSearch: false }}>
        <IconKey {...ICON} /> Access
      </Link>
      <Link to="/clusters/$clusterId/reassign" params={params} activeOptions={{ includeSearch: false }}>
        <IconArrowsExchange {...ICON} /> Move partitions
      </Link>
    </>
  );
}
