/** Every page of the console and the URL it lives at. Pages load when they are first opened. */
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouterHistory,
} from "@tanstack/react-router";
import { Lines } from "@/components/card";
import {
  accessSearch,
  alertSearch,
  analyticsSearch,
  auditSearch,
  brokerSearch,
  clusterSearch,
  destinationSearch,
  driftSearch,
  eventSearch,
  groupSearch,
  insightsSearch,
  listSearch,
  loginSearch,
  messageSearch,
  newTopicSearch,
  objectivesSearch,
  operationsSearch,
  platformSearch,
  reassignSearch,
  resetSearch,
  runbookSearch,
  settingsSearch,
  topicSearch,
  usageSearch,
} from "@/lib/search";
import { sessionQuery } from "@/lib/session";
import { NotFound, RouteError } from "./fallbacks";
import { Shell } from "./shell/shell";

const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({ notFoundComponent: NotFound });

const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/login",
  validateSearch: loginSearch,
  component: lazyRouteComponent(() => import("@/features/session/login-page"), "LoginPage"),
});

const invitationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invitation",
  component: lazyRouteComponent(() => import("@/features/session/invitation-page"), "InvitationPage"),
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  component: Shell,
  errorComponent: RouteError,
  beforeLoad: async ({ context, location }) => {
    const session = await context.client.ensureQueryData({ ...sessionQuery, revalidateIfStale: true });
    if (session.user === null) {
      const next = location.href === "/" ? undefined : location.href;
      throw redirect({ to: "/login", search: { next } });
    }
  },
});

const overviewRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  component: lazyRouteComponent(() => import("@/features/clusters/overview-page"), "OverviewPage"),
});
const newClusterRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/new",
  component: lazyRouteComponent(() => import("@/features/clusters/new-cluster-page"), "NewClusterPage"),
});
const registerRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/register",
  component: lazyRouteComponent(() => import("@/features/clusters/register-page"), "RegisterPage"),
});
const credentialsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/credentials",
  component: lazyRouteComponent(() => import("@/features/clusters/credentials-page"), "CredentialsPage"),
});
const schemaRegistryRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/schema-registry",
  component: lazyRouteComponent(() => import("@/features/clusters/schema-registry-page"), "SchemaRegistryPage"),
});
const clusterRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId",
  validateSearch: clusterSearch,
  component: lazyRouteComponent(() => import("@/features/clusters/cluster-page"), "ClusterPage"),
});
const eventsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/events",
  validateSearch: eventSearch,
  component: lazyRouteComponent(() => import("@/features/events/events-page"), "EventsPage"),
});
const brokerRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/brokers/$broker",
  validateSearch: brokerSearch,
  component: lazyRouteComponent(() => import("@/features/brokers/broker-page"), "BrokerPage"),
});
const topicsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/topics",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("@/features/topics/topics-page"), "TopicsPage"),
});
const newTopicRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/new-topic",
  validateSearch: newTopicSearch,
  component: lazyRouteComponent(() => import("@/features/topics/new-topic-page"), "NewTopicPage"),
});
const topicRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/topics/$topic",
  validateSearch: topicSearch,
  component: lazyRouteComponent(() => import("@/features/topics/topic-page"), "TopicPage"),
});
const messagesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/topics/$topic/messages",
  validateSearch: messageSearch,
  component: lazyRouteComponent(() => import("@/features/messages/messages-page"), "MessagesPage"),
});
const groupsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/groups",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("@/features/groups/groups-page"), "GroupsPage"),
});
const groupRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/groups/$group",
  validateSearch: groupSearch,
  component: lazyRouteComponent(() => import("@/features/groups/group-page"), "GroupPage"),
});
const resetRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/groups/$group/reset",
  validateSearch: resetSearch,
  component: lazyRouteComponent(() => import("@/features/groups/reset-page"), "ResetPage"),
});
const accessRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/access",
  validateSearch: accessSearch,
  component: lazyRouteComponent(() => import("@/features/access/access-page"), "AccessPage"),
});
const driftRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/drift",
  validateSearch: driftSearch,
  component: lazyRouteComponent(() => import("@/features/drift/drift-page"), "DriftPage"),
});
const reassignRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/reassign",
  validateSearch: reassignSearch,
  component: lazyRouteComponent(() => import("@/features/reassignments/reassign-page"), "ReassignPage"),
});
const analyticsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/analytics",
  validateSearch: analyticsSearch,
  component: lazyRouteComponent(() => import("@/features/analytics/analytics-page"), "AnalyticsPage"),
});
const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/clusters/$clusterId/usage",
  validateSearch: insightsSearch,
  component: lazyRouteComponent(() => import("@/features/insights/insights-page"), "InsightsPage"),
});
const tenantUsageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/usage",
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import("@/features/usage/usage-page"), "UsagePage"),
});
const objectivesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/objectives",
  validateSearch: objectivesSearch,
  component: lazyRouteComponent(() => import("@/features/objectives/objectives-page"), "ObjectivesPage"),
});
const alertsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/alerts",
  validateSearch: alertSearch,
  component: lazyRouteComponent(() => import("@/features/alerts/alerts-page"), "AlertsPage"),
});
const alertRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/alerts/$alertId",
  component: lazyRouteComponent(() => import("@/features/alerts/alert-page"), "AlertPage"),
});
const destinationsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/destinations",
  validateSearch: destinationSearch,
  component: lazyRouteComponent(() => import("@/features/destinations/destinations-page"), "DestinationsPage"),
});
const runbooksRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/runbooks",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("@/features/runbooks/runbooks-page"), "RunbooksPage"),
});
const runbookRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/runbooks/$runbookId",
  validateSearch: runbookSearch,
  component: lazyRouteComponent(() => import("@/features/runbooks/runbook-page"), "RunbookPage"),
});
const operationsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/operations",
  validateSearch: operationsSearch,
  component: lazyRouteComponent(() => import("@/features/operations/operations-page"), "OperationsPage"),
});
const operationRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/operations/$operationId",
  component: lazyRouteComponent(() => import("@/features/operations/operation-page"), "OperationPage"),
});
const auditRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/audit",
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import("@/features/audit/audit-page"), "AuditPage"),
});
const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/settings",
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import("@/features/settings/settings-page"), "SettingsPage"),
});
const profileRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/profile",
  component: lazyRouteComponent(() => import("@/features/session/profile-page"), "ProfilePage"),
});
const platformRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/platform",
  validateSearch: platformSearch,
  component: lazyRouteComponent(() => import("@/features/platform/platform-page"), "PlatformPage"),
});
const hostRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/platform/hosts/$hostId",
  component: lazyRouteComponent(() => import("@/features/platform/host-page"), "HostPage"),
});
/** An address that nothing has: said within the frame, so that the way on is at hand. */
const unknownRoute = createRoute({ getParentRoute: () => appRoute, path: "$", component: NotFound });

const routeTree = rootRoute.addChildren([
  loginRoute,
  invitationRoute,
  appRoute.addChildren([
    overviewRoute,
    newClusterRoute,
    registerRoute,
    credentialsRoute,
    schemaRegistryRoute,
    clusterRoute,
    eventsRoute,
    brokerRoute,
    topicsRoute,
    newTopicRoute,
    topicRoute,
    messagesRoute,
    groupsRoute,
    groupRoute,
    resetRoute,
    accessRoute,
    driftRoute,
    reassignRoute,
    analyticsRoute,
    usageRoute,
    tenantUsageRoute,
    objectivesRoute,
    alertsRoute,
    alertRoute,
    destinationsRoute,
    runbooksRoute,
    runbookRoute,
    operationsRoute,
    operationRoute,
    auditRoute,
    settingsRoute,
    profileRoute,
    platformRoute,
    hostRoute,
    unknownRoute,
  ]),
]);

/** `history` is the browser's, unless a test keeps one of its own. */
export const createAppRouter = (client: QueryClient, history?: RouterHistory) =>
  createRouter({
    routeTree,
    history,
    context: { client },
    defaultPreload: "intent",
    defaultPendingMs: 200,
    // A page whose code came late is not held back so that its placeholder is seen for half a second.
    defaultPendingMinMs: 0,
    defaultPendingComponent: () => <Lines rows={8} />,
    defaultErrorComponent: RouteError,
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
