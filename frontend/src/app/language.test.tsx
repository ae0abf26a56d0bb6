/** Pages in a language made by a machine: what is on the screen in English came neither from the catalogue nor from the
 * data, and would stay English in every other language. */
import { screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPage } from "@/testing/app";
import { leaks } from "@/testing/leaks";
import { pseudo } from "@/testing/pseudo";
import { attention, cluster, event, listed, operation, session, timelineEvent } from "@/testing/samples";
import {
  apiKey,
  invitation,
  member,
  platformHost,
  platformUser,
  serviceAccount,
  tenantSummary,
} from "@/testing/samples-administration";
import { alert, alertDetail, alertRule, delivery, destination, silence } from "@/testing/samples-alerts";
import { runbook, runbookRun } from "@/testing/samples-runbooks";
import { type Answers, ok, Refusal, stale, unavailable } from "@/testing/server";
import * as en from "@/words/en";
import { speakIn } from "@/words/shown";

beforeEach(() => speakIn(pseudo(en)));
afterEach(() => speakIn(null));

const AS_OF = "2026-11-21T10:00:00Z";
const OWNER = session({
  user: { username: "ada", email: "", is_staff: true },
  tenant: { id: "tn_1", slug: "acme", name: "Acme", role: "owner", state: "active" },
});

/** By name: what is opened, the answers, and a text of the data that is there when the page is. */
const PAGES: [name: string, path: string, shows: string | RegExp, answers: Answers][] = [
  [
    "the overview",
    "/",
    "orders falls behind",
    {
      "GET /console/api/pages/overview": {
        parts: {
          clusters: ok([cluster(), cluster({ id: "c2", name: "second", phase: "DEGRADED" })]),
          attention: ok([attention({ text: "orders falls behind" })]),
          operations: ok([operation()]),
        },
      },
    },
  ],
  [
    "operations",
    "/operations",
    /shown/,
    {
      "GET /console/api/pages/operations": {
        parts: { operations: ok([operation({ actor: "key:shown" })]), page: ok({ next: null, has_more: false }) },
      },
    },
  ],
  [
    "alerts",
    "/alerts",
    "orders: broker 2 is down.",
    {
      "GET /api/v1/alerts": listed([
        alert(),
        alert({ id: "al_3", summary: "orders: broker 2 is down.", acknowledged_by: "user:bob", state: "acknowledged" }),
      ]),
      "GET /api/v1/alert-rules": { data: [alertRule()] },
    },
  ],
  [
    "silences",
    "/alerts?tab=silences",
    "the nightly load",
    {
      "GET /api/v1/alerts": listed([]),
      "GET /api/v1/alert-rules": { data: [alertRule()] },
      "GET /api/v1/silences": listed([silence(), silence({ id: "si_2", state: "over", reason: "long ago" })]),
    },
  ],
  [
    "an alert",
    "/alerts/al_1",
    /loses unread records/,
    {
      "GET /api/v1/alerts/al_1": alertDetail({ unknown: true }),
      "GET /api/v1/alert-rules": { data: [alertRule()] },
      "GET /api/v1/deliveries": listed([delivery()]),
    },
  ],
  [
    "destinations",
    "/destinations",
    destination().name,
    { "GET /api/v1/destinations": listed([destination()]), "GET /api/v1/alert-rules": { data: [alertRule()] } },
  ],
  [
    "runbooks",
    "/runbooks",
    runbook().title,
    {
      "GET /api/v1/runbooks": { data: [runbook()] },
      "GET /api/v1/runbook-runs": listed([runbookRun()]),
    },
  ],
  [
    "a platform's tenants",
    "/platform",
    tenantSummary().name,
    {
      "GET /console/api/session": OWNER,
      "GET /api/v1/operator/tenants": listed([tenantSummary(), tenantSummary({ id: "tn_2", state: "suspended" })]),
      "GET /api/v1/operator/users": listed([platformUser()]),
      "GET /api/v1/operator/hosts": { data: [platformHost()] },
    },
  ],
  [
    "members",
    "/settings",
    invitation().note,
    {
      "GET /console/api/session": OWNER,
      "GET /api/v1/members": listed([member(), member({ username: "bob", is_active: false })]),
      "GET /api/v1/invitations": listed([invitation()]),
    },
  ],
  [
    "service accounts and keys",
    "/settings?tab=accounts",
    serviceAccount().name,
    {
      "GET /console/api/session": OWNER,
      "GET /api/v1/service-accounts": listed([serviceAccount()]),
      "GET /api/v1/api-keys": listed([apiKey()]),
    },
  ],
  [
    "the audit",
    "/audit",
    event().actor ?? "",
    { "GET /api/v1/audit-events": { data: [event()], page: { next: "n", has_more: true } } },
  ],
  [
    "events of a cluster",
    "/clusters/c1/events",
    timelineEvent().text,
    { "GET /api/v1/timeline": { ...listed([timelineEvent()]), kept_from: AS_OF } },
  ],
];

describe("in another language", () => {
  it.each(PAGES)("no English is left on %s", async (_, path, shows, answers) => {
    await openPage(path, answers);
    expect((await screen.findAllByText(shows)).length).toBeGreaterThan(0);
    expect(leaks([answers, DATA])).toEqual([]);
  });

  it("nor on a page whose parts are missing or old", async () => {
    const answers = {
      "GET /console/api/pages/overview": {
        parts: {
          clusters: stale([cluster()], "The brokers are away."),
          attention: unavailable("It took too long."),
          operations: ok([]),
        },
      },
    };
    await openPage("/", answers);
    expect((await screen.findAllByText(/The brokers are away\./)).length).toBeGreaterThan(0);
    expect(leaks([answers, DATA])).toEqual([]);
  });

  it("nor where the address names nothing, or the server refuses", async () => {
    const refused = { title: "Not found", detail: "The alert was not found." };
    await openPage("/alerts/al_9", { "GET /api/v1/alerts/al_9": new Refusal(404, refused.title, refused.detail) });
    expect((await screen.findAllByText(/alert was not found/)).length).toBeGreaterThan(0);
    expect(leaks([refused, DATA])).toEqual([]);
    await openPage("/nowhere");
    expect(leaks([refused, DATA])).toEqual([]);
  });
});

/** What the frame shows: who looks, and as what; and what `lib` still words by itself (readings of alerts, kinds of
 * destinations, events and the audit). */
const LIB = ["lag records", "first loss in", "expires in", "not known", "Webhook", "Broker left", "API key shown"];
const OUTCOMES = ["system", "reverted", "refused", "ok", "oidc", "failed", "cancelled"];
const DATA = [session(), OWNER, cluster(), "rq_test", "The test has no answer", LIB, OUTCOMES];
