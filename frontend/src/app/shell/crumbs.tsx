import { IconChevronRight } from "@tabler/icons-react";
import { Link, useLocation, useParams } from "@tanstack/react-router";
import { Fragment, lazy, type ReactNode, Suspense } from "react";
import { useCluster } from "@/lib/use-clusters";
import { words } from "@/words";

const RunbookCrumb = lazy(() => import("./runbook-crumb"));

/** A link to where this page belongs is not the current page. */
const EXACT = { exact: true } as const;

const say = words.navigation;

const sections = (): Record<string, string> => ({
  topics: say.topics,
  "new-topic": say.newTopic,
  groups: say.groups,
  access: say.access,
  reassign: say.reassign,
  drift: say.drift,
  analytics: say.analytics,
  events: say.events,
  usage: say.clusterUsage,
});

const pages = (): Record<string, string> => ({
  "/audit": say.audit,
  "/clusters/new": say.newCluster,
  "/destinations": say.destinations,
  "/objectives": say.objectives,
  "/settings": say.settings,
  "/usage": say.tenantUsage,
  "/profile": say.profile,
  "/platform": say.platform,
});

/** Where this page is: cluster, section, resource. */
export function Crumbs() {
  const { broker, clusterId, topic, group, operationId, alertId, runbookId, hostId } = useParams({ strict: false });
  const { pathname } = useLocation();
  const cluster = useCluster(clusterId);
  const items: ReactNode[] = [];
  if (clusterId) {
    items.push(
      <Link activeOptions={EXACT} to="/clusters/$clusterId" params={{ clusterId }}>
        {cluster?.name ?? clusterId}
      </Link>,
    );
    const section = pathname.split("/")[3] ?? "";
    if (topic) {
      items.push(
        <Link activeOptions={EXACT} to="/clusters/$clusterId/topics" params={{ clusterId }}>
          {say.topics}
        </Link>,
        topic,
      );
    } else if (group) {
      items.push(
        <Link activeOptions={EXACT} to="/clusters/$clusterId/groups" params={{ clusterId }}>
          {say.groups}
        </Link>,
      );
      if (pathname.endsWith("/reset")) {
        items.push(
          <Link activeOptions={EXACT} to="/clusters/$clusterId/groups/$group" params={{ clusterId, group }}>
            {group}
          </Link>,
          say.resetOffsets,
        );
      } else items.push(group);
    } else if (broker) {
      items.push(
        <Link activeOptions={EXACT} to="/clusters/$clusterId" params={{ clusterId }}>
          {say.brokers}
        </Link>,
        broker,
      );
    } else if (sections()[section]) items.push(sections()[section]);
    else items.push(say.brokers);
  } else if (pathname.startsWith("/alerts")) {
    items.push(
      alertId ? (
        <Link activeOptions={EXACT} to="/alerts">
          {say.alerts}
        </Link>
      ) : (
        say.alerts
      ),
    );
    if (alertId) items.push(alertId);
  } else if (pathname.startsWith("/runbooks")) {
    items.push(
      runbookId ? (
        <Link activeOptions={EXACT} to="/runbooks">
          {say.runbooks}
        </Link>
      ) : (
        say.runbooks
      ),
    );
    if (runbookId)
      items.push(
        <Suspense>
          <RunbookCrumb id={runbookId} />
        </Suspense>,
      );
  } else if (pathname.startsWith("/operations")) {
    items.push(
      operationId ? (
        <Link activeOptions={EXACT} to="/operations">
          {say.operations}
        </Link>
      ) : (
        say.operations
      ),
    );
    if (operationId) items.push(operationId);
  } else if (hostId) {
    items.push(
      <Link activeOptions={EXACT} to="/platform" search={{ tab: "hosts" }}>
        {say.platform}
      </Link>,
      hostId,
    );
  } else items.push(pages()[pathname] ?? say.overview);
  return (
    <nav aria-label={say.breadcrumb} className="ps-crumbs">
      {items.map((item, index) => (
        <Fragment key={index}>
          {index > 0 && <IconChevronRight size={13} aria-hidden />}
          <span
            aria-current={index === items.length - 1 ? "page" : undefined}
            className={index < items.length - 1 && items.length > 2 ? "ps-crumb-mid" : undefined}
          >
            {item}
          </span>
        </Fragment>
      ))}
    </nav>
  );
}
