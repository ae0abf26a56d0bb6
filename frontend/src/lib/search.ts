/** View state in the URL: validators that drop what they do not know. */
import type { SearchSchemaInput } from "@tanstack/react-router";

type Raw = Record<string, unknown>;

const text = (value: unknown): string | undefined => {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
};
const positive = (value: unknown): number | undefined => {
  const number = Number(value);
  return Number.isInteger(number) && number > 1 ? number : undefined;
};
const flag = (value: unknown): true | undefined =>
  value === true || value === "true" || value === "1" ? true : undefined;
const oneOf = <T extends string>(value: unknown, known: readonly T[]): T | undefined =>
  known.find((item) => item === value);

/** An order that a list has, with a minus for the largest first; one that it has not is none. */
export function sortOf<T extends string>(sort: string | undefined, known: readonly T[]): T | `-${T}` | undefined {
  const name = oneOf(sort?.replace(/^-/, ""), known);
  return name && (sort?.startsWith("-") ? `-${name}` : name);
}

export interface ListSearch {
  q?: string;
  sort?: string;
  page?: number;
  internal?: true;
  /** Favourites alone. */
  starred?: true;
  state?: string;
}

export const listSearch = (raw: ListSearch & SearchSchemaInput): ListSearch => ({
  q: text(raw.q),
  sort: text(raw.sort),
  page: positive(raw.page),
  internal: flag(raw.internal),
  starred: flag(raw.starred),
  state: text(raw.state),
});

/** Operations: the page that goes on behind `cursor`. */
export const operationsSearch = (raw: { q?: string; state?: string; cursor?: string } & SearchSchemaInput) => ({
  q: text(raw.q),
  state: text(raw.state),
  cursor: text(raw.cursor),
});

/** A new topic: the one that it is made like. */
export const newTopicSearch = (raw: { from?: string } & SearchSchemaInput) => ({ from: text(raw.from) });

/** Filters of the audit, as the REST API takes them; `last` or `from` and `to` say when. */
export const AUDIT_LAST = { "1h": 3600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000 } as const;
export type AuditLast = keyof typeof AUDIT_LAST;

export interface AuditSearch {
  actor?: string;
  action?: string;
  resource?: string;
  outcome?: string;
  cluster?: string;
  last?: AuditLast;
  from?: string;
  to?: string;
}

const moment = (value: unknown): string | undefined => {
  const given = text(value);
  return given !== undefined && !Number.isNaN(Date.parse(given)) ? given : undefined;
};

export const auditSearch = (raw: AuditSearch & SearchSchemaInput): AuditSearch => ({
  actor: text(raw.actor),
  action: text(raw.action),
  resource: text(raw.resource),
  outcome: text(raw.outcome),
  cluster: text(raw.cluster),
  last: oneOf(raw.last, Object.keys(AUDIT_LAST) as AuditLast[]),
  from: moment(raw.from),
  to: moment(raw.to),
});

export const TOPIC_TABS = ["partitions", "clients", "configuration", "analyses"] as const;
export const GROUP_TABS = ["offsets", "members", "analyses"] as const;
export const ACCESS_TABS = ["users", "acls", "matrix", "check", "denied", "quotas", "drift"] as const;
export const SETTINGS_TABS = ["members", "accounts", "masks"] as const;
export const PLATFORM_TABS = ["tenants", "users", "hosts", "notifications", "backfills"] as const;

const tabs =
  <T extends string>(known: readonly T[]) =>
  (raw: { tab?: T; q?: string; sort?: string; page?: number } & SearchSchemaInput) => ({
    tab: oneOf(raw.tab, known),
    q: text(raw.q),
    sort: text(raw.sort),
    page: positive(raw.page),
  });

export const ALERT_TABS = ["rules", "silences"] as const;
export const ALERT_STATES = ["open", "resolved", "all"] as const;

/** The list of alerts: `state` is open when it is not said. */
export const alertSearch = (
  raw: {
    tab?: (typeof ALERT_TABS)[number];
    state?: (typeof ALERT_STATES)[number];
    severity?: string;
    cluster?: string;
    q?: string;
    sort?: string;
    page?: number;
  } & SearchSchemaInput,
) => ({
  tab: oneOf(raw.tab, ALERT_TABS),
  state: oneOf(raw.state, ALERT_STATES),
  severity: oneOf(raw.severity, ["critical", "warning", "info"] as const),
  cluster: text(raw.cluster),
  q: text(raw.q),
  sort: text(raw.sort),
  page: positive(raw.page),
});

export const DELIVERY_STATES = ["pending", "retrying", "sent", "dead"] as const;

export const destinationSearch = (
  raw: {
    tab?: "deliveries";
    state?: (typeof DELIVERY_STATES)[number];
    destination?: string;
    sort?: string;
    page?: number;
  } & SearchSchemaInput,
) => ({
  tab: oneOf(raw.tab, ["deliveries"] as const),
  state: oneOf(raw.state, DELIVERY_STATES),
  destination: text(raw.destination),
  sort: text(raw.sort),
  page: positive(raw.page),
});

/** A runbook: the run that is followed, else what a new one is about; `alert` is where one came from. */
export const runbookSearch = (
  raw: {
    run?: string;
    alert?: string;
    cluster?: string;
    group?: string;
    topic?: string;
    broker?: string;
    operation?: string;
    user?: string;
  } & SearchSchemaInput,
) => ({
  run: text(raw.run),
  alert: text(raw.alert),
  cluster: text(raw.cluster),
  group: text(raw.group),
  topic: text(raw.topic),
  broker: text(raw.broker),
  operation: text(raw.operation),
  user: text(raw.user),
});

/** What an ACL may be about. */
export const RESOURCE_TYPES = ["TOPIC", "GROUP", "TRANSACTIONAL_ID", "CLUSTER"] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** Beside the lists: `q`, `name` and `type` narrow the matrix, `who` may `op` on `type` `name` from `host` is asked. */
export const accessSearch = (
  raw: {
    tab?: (typeof ACCESS_TABS)[number];
    q?: string;
    sort?: string;
    page?: number;
    who?: string;
    op?: string;
    type?: ResourceType;
    name?: string;
    host?: string;
  } & SearchSchemaInput,
) => ({
  ...tabs(ACCESS_TABS)(raw),
  who: text(raw.who),
  op: text(raw.op),
  type: oneOf(raw.type, RESOURCE_TYPES),
  name: text(raw.name),
  host: text(raw.host),
});
export const settingsSearch = tabs(SETTINGS_TABS);
export const platformSearch = tabs(PLATFORM_TABS);

export const RANGES = { "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800 } as const;
export type Range = keyof typeof RANGES;

export const analyticsSearch = (
  raw: {
    range?: Range;
    sort?: string;
    page?: number;
    /** Of the table of topics. */
    tsort?: string;
    tpage?: number;
  } & SearchSchemaInput,
) => ({
  range: oneOf(raw.range, Object.keys(RANGES) as Range[]),
  sort: text(raw.sort),
  page: positive(raw.page),
  tsort: text(raw.tsort),
  tpage: positive(raw.tpage),
});

/** How far back charts reach, s; the server draws points together so that any is as cheap. */
export const CHART_RANGES = {
  "1h": 3600,
  "6h": 21_600,
  "24h": 86_400,
  "7d": 604_800,
  "30d": 2_592_000,
  "90d": 7_776_000,
} as const;
export type ChartRange = keyof typeof CHART_RANGES;

const chartRange = (value: unknown) => oneOf(value, Object.keys(CHART_RANGES) as ChartRange[]);

/** A cluster, or a broker: how far back its charts reach. */
export const clusterSearch = (raw: { range?: ChartRange } & SearchSchemaInput) => ({ range: chartRange(raw.range) });

/** How far back the events of a cluster are listed, s. */
export const EVENT_RANGES = { "1h": 3600, "6h": 21_600, "24h": 86_400, "7d": 604_800, "30d": 2_592_000 } as const;
export type EventRange = keyof typeof EVENT_RANGES;
export const EVENT_GROUPS = ["brokers", "partitions", "topics", "operations", "alerts", "deployments"] as const;
export type EventGroup = (typeof EVENT_GROUPS)[number];

/** A cluster's events: how far back, of which sort, about what. */
export const eventSearch = (raw: { last?: EventRange; sort?: EventGroup; subject?: string } & SearchSchemaInput) => ({
  last: oneOf(raw.last, Object.keys(EVENT_RANGES) as EventRange[]),
  sort: oneOf(raw.sort, EVENT_GROUPS),
  subject: text(raw.subject),
});

export const BROKER_TABS = ["partitions", "directories", "settings", "process", "log", "operations"] as const;
/** Levels of a broker's log, from which on lines are shown. */
export const LOG_LEVELS = ["INFO", "WARNING", "ERROR", "CRITICAL"] as const;

/** A broker: the tab, what its settings are searched for, from which level its log, how far back its chart reaches. */
export const brokerSearch = (
  raw: {
    tab?: (typeof BROKER_TABS)[number];
    q?: string;
    level?: (typeof LOG_LEVELS)[number];
    range?: ChartRange;
  } & SearchSchemaInput,
) => ({
  tab: oneOf(raw.tab, BROKER_TABS),
  q: text(raw.q),
  level: oneOf(raw.level, LOG_LEVELS),
  range: chartRange(raw.range),
});

/** How far back usage is summed up, days; 31 at most. */
export const USAGE_DAYS = { "1d": 1, "7d": 7, "30d": 30 } as const;
export type UsageSpan = keyof typeof USAGE_DAYS;

/** The tenant's usage: how far back. */
export const usageSearch = (raw: { last?: UsageSpan } & SearchSchemaInput) => ({
  last: oneOf(raw.last, Object.keys(USAGE_DAYS) as UsageSpan[]),
});

/** How far back rollups are shown, by the period that suits it. */
export const SPANS = {
  "2d": { days: 2, period: "hour" },
  "14d": { days: 14, period: "hour" },
  "90d": { days: 90, period: "day" },
  "400d": { days: 400, period: "day" },
} as const;
export type Span = keyof typeof SPANS;
const PARTITION_MAX = 2 ** 31 - 1;
const partitionOf = (value: unknown): number | undefined => {
  const number = Number(value);
  return value !== "" && Number.isInteger(number) && number >= 0 && number <= PARTITION_MAX ? number : undefined;
};
const spanOf = (value: unknown) => oneOf(value, Object.keys(SPANS) as Span[]);

/** A topic; the partition that is looked at; of its analyses the range, a retention, and one beside the ladder, s. */
export const topicSearch = (
  raw: {
    tab?: (typeof TOPIC_TABS)[number];
    q?: string;
    sort?: string;
    page?: number;
    span?: Span;
    keep?: number;
    also?: number;
    range?: ChartRange;
    partition?: number;
  } & SearchSchemaInput,
) => ({
  ...tabs(TOPIC_TABS)(raw),
  range: chartRange(raw.range),
  partition: partitionOf(raw.partition),
  span: spanOf(raw.span),
  keep: positive(raw.keep),
  also: positive(raw.also),
});

/** A group: ranges of its lag, and of its hours and days. */
export const groupSearch = (
  raw: {
    tab?: (typeof GROUP_TABS)[number];
    q?: string;
    sort?: string;
    page?: number;
    span?: Span;
    range?: ChartRange;
  } & SearchSchemaInput,
) => ({
  ...tabs(GROUP_TABS)(raw),
  span: spanOf(raw.span),
  range: chartRange(raw.range),
});

export const MESSAGE_STARTS = ["end", "beginning", "offset", "time"] as const;
export const ISOLATIONS = ["read_uncommitted", "read_committed"] as const;
export const MESSAGE_FORMATS = ["auto", "string", "json", "hex", "integer", "schema"] as const;
const offset = (value: unknown): number | undefined => {
  const number = Number(value);
  return value !== "" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
};

export interface MessageSearch {
  from?: (typeof MESSAGE_STARTS)[number];
  order?: "oldest" | "newest";
  offset?: number;
  /** ISO 8601. */
  time?: string;
  /** As `0,3`. */
  partitions?: string;
  key?: string;
  value?: string;
  header?: string;
  /** An expression. */
  filter?: string;
  key_format?: (typeof MESSAGE_FORMATS)[number];
  value_format?: (typeof MESSAGE_FORMATS)[number];
  tail?: true;
  /** Kafka's isolation.level; read_uncommitted when left out, as consumers have it. */
  isolation?: "read_committed";
}

/** What is looked for in a topic, as the service takes it. */
export const messageSearch = (raw: MessageSearch & SearchSchemaInput): MessageSearch => ({
  from: oneOf(raw.from, MESSAGE_STARTS),
  order: oneOf(raw.order, ["oldest", "newest"] as const),
  offset: offset(raw.offset),
  time: moment(raw.time),
  partitions: text(raw.partitions),
  key: text(raw.key),
  value: text(raw.value),
  header: text(raw.header),
  filter: text(raw.filter),
  key_format: oneOf(raw.key_format, MESSAGE_FORMATS),
  value_format: oneOf(raw.value_format, MESSAGE_FORMATS),
  tail: flag(raw.tail),
  isolation: oneOf(raw.isolation, ["read_committed"] as const),
});

/** Lag objectives: the cluster whose groups are looked at. */
export const objectivesSearch = (raw: { cluster?: string } & SearchSchemaInput) => ({ cluster: text(raw.cluster) });

/** A cluster's usage and forecasts: ranges, and what its disks hold, GiB. */
export const insightsSearch = (raw: { span?: Span; last?: UsageSpan; capacity?: number } & SearchSchemaInput) => {
  const capacity = Number(raw.capacity);
  return {
    span: spanOf(raw.span),
    last: oneOf(raw.last, Object.keys(USAGE_DAYS) as UsageSpan[]),
    capacity: Number.isFinite(capacity) && capacity >= 1 ? capacity : undefined,
  };
};

/** What is not as it was left: how the list is sorted, and its page. */
export const driftSearch = (raw: { sort?: string; page?: number } & SearchSchemaInput) => ({
  sort: text(raw.sort),
  page: positive(raw.page),
});
export const reassignSearch = (raw: { topic?: string } & SearchSchemaInput) => ({ topic: text((raw as Raw).topic) });
export const resetSearch = (raw: { topic?: string } & SearchSchemaInput) => ({ topic: text((raw as Raw).topic) });

/** Why a sign-in by the OpenID provider did not open a session. */
export const SIGN_IN_FAILURES = ["away", "not-valid", "not-allowed"] as const;

export const loginSearch = (raw: { next?: string; failed?: (typeof SIGN_IN_FAILURES)[number] } & SearchSchemaInput) => {
  const next = text(raw.next);
  // Only our own paths: a login link must not lead off the site.
  return {
    next: next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") ? next : undefined,
    failed: oneOf(raw.failed, SIGN_IN_FAILURES),
  };
};
