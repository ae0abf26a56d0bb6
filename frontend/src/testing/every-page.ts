/** The addresses of the console that are opened in a language made by a machine, by the router's own name of a page: each
 * page and each of its tabs. In three parts, so that they are walked beside each other. */
import {
  ACCESS_TABS,
  ALERT_TABS,
  BROKER_TABS,
  GROUP_TABS,
  PLATFORM_TABS,
  SETTINGS_TABS,
  TOPIC_TABS,
} from "@/lib/search";
import { SIGNED_OUT } from "./samples";
import { platformHost } from "./samples-administration";
import { runbook, runbookRun } from "./samples-runbooks";
import type { Answers } from "./server";
import { WHOLE } from "./whole-console";

const tabs = (path: string, names: readonly string[]) => [path, ...names.map((name) => `${path}?tab=${name}`)];

export const EVERY_PAGE = {
  clusters: {
    "/": ["/"],
    "/clusters/new": ["/clusters/new"],
    "/clusters/register": ["/clusters/register"],
    "/clusters/$clusterId": ["/clusters/c1"],
    "/clusters/$clusterId/credentials": ["/clusters/c1/credentials"],
    "/clusters/$clusterId/schema-registry": ["/clusters/c1/schema-registry"],
    "/clusters/$clusterId/events": ["/clusters/c1/events"],
    "/clusters/$clusterId/brokers/$broker": tabs("/clusters/c1/brokers/2", BROKER_TABS),
    "/clusters/$clusterId/access": [
      ...tabs("/clusters/c1/access", ACCESS_TABS),
      "/clusters/c1/access?tab=check&who=User%3Aapp&op=WRITE&type=TOPIC&name=sales",
    ],
    "/clusters/$clusterId/reassign": ["/clusters/c1/reassign"],
    "/clusters/$clusterId/drift": ["/clusters/c1/drift"],
    "/clusters/$clusterId/analytics": ["/clusters/c1/analytics"],
    "/clusters/$clusterId/usage": ["/clusters/c1/usage"],
  },
  data: {
    "/clusters/$clusterId/topics": ["/clusters/c1/topics"],
    "/clusters/$clusterId/new-topic": ["/clusters/c1/new-topic"],
    "/clusters/$clusterId/topics/$topic": [
      ...tabs("/clusters/c1/topics/sales", TOPIC_TABS),
      "/clusters/c1/topics/sales?partition=0",
    ],
    "/clusters/$clusterId/topics/$topic/messages": ["/clusters/c1/topics/sales/messages"],
    "/clusters/$clusterId/groups": ["/clusters/c1/groups"],
    "/clusters/$clusterId/groups/$group": tabs("/clusters/c1/groups/readers", GROUP_TABS),
    "/clusters/$clusterId/groups/$group/reset": ["/clusters/c1/groups/readers/reset"],
  },
  tenant: {
    "/login": ["/login"],
    "/invitation": ["/invitation#psi_a_b"],
    "/$": ["/nowhere"],
    "/usage": ["/usage"],
    "/objectives": ["/objectives"],
    "/alerts": tabs("/alerts", ALERT_TABS),
    "/alerts/$alertId": ["/alerts/al_1"],
    "/destinations": tabs("/destinations", ["deliveries"]),
    "/runbooks": ["/runbooks"],
    "/runbooks/$runbookId": [`/runbooks/${runbook().id}`, `/runbooks/${runbook().id}?run=${runbookRun().id}`],
    "/operations": ["/operations"],
    "/operations/$operationId": ["/operations/op_1", "/operations/op_2"],
    "/audit": ["/audit"],
    "/settings": tabs("/settings", SETTINGS_TABS),
    "/profile": ["/profile"],
    "/platform": tabs("/platform", PLATFORM_TABS),
    "/platform/hosts/$hostId": [`/platform/hosts/${platformHost().host_id}`, "/platform/hosts/host-2"],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** Names of mechanisms, of a level of logs, of actors, as they are typed; Kafka's kind of principal; the words of a runbook. */
export const SAME_EVERYWHERE = [
  // Examples of names, in fields of templates.
  ...["orders-workers", "orders-writer-1", "orders-totals"],
  ...["OAUTHBEARER", "PLAIN", "CRITICAL", "oidc", "system", "User:"],
  ...["Records expire unread. <script>alert(1)</script> See", "That is all."],
];

export const answersAt = (path: string): Answers =>
  /^\/(?:login|invitation)/.test(path) ? { ...WHOLE, "GET /console/api/session": SIGNED_OUT } : WHOLE;
