/** Pure helpers over Spark's lag rows. */
import { LAG_STATUSES, RISK_SEVERITY, RISKS } from "@/generated/constants";
import { words } from "@/words/charts";
import type { Chart } from "./charts";
import { formatDuration, formatInteger } from "./format";
import { exactly } from "./quantities";
import type { LagPoint, TopicRetention } from "./types";

const loss = words.loss;

/** How bad a status is; the worst topic speaks for its group. */
const rank = (point: LagPoint) => LAG_STATUSES.indexOf(point.status);
const time = (point: LagPoint) => new Date(point.ts).getTime();

/** The newest point of every (group, topic). */
export function newest(points: LagPoint[]): LagPoint[] {
  const found = new Map<string, LagPoint>();
  for (const point of points) {
    const key = JSON.stringify([point.group, point.topic]);
    const seen = found.get(key);
    if (!seen || time(seen) <= time(point)) found.set(key, point);
  }
  return [...found.values()];
}

/** The worst newest point of every group. */
export function worstByGroup(points: LagPoint[]): Map<string, LagPoint> {
  const worst = new Map<string, LagPoint>();
  for (const point of newest(points)) {
    const seen = worst.get(point.group);
    const worse =
      !seen ||
      rank(point) > rank(seen) ||
      (rank(point) === rank(seen) && (point.lag_records ?? 0) > (seen.lag_records ?? 0));
    if (worse) worst.set(point.group, point);
  }
  return worst;
}

/** One series of [ms, records] per topic, in time order, with null where nothing is known. */
export function seriesByTopic(
  points: LagPoint[],
  value: "lag_records" | "lag_seconds",
): { name: string; points: [number, number | null][] }[] {
  const found = new Map<string, [number, number | null][]>();
  for (const point of points) {
    const list = found.get(point.topic) ?? [];
    list.push([time(point), point[value]]);
    found.set(point.topic, list);
  }
  return [...found.entries()]
    .map(([name, list]) => ({ name, points: list.sort((left, right) => left[0] - right[0]) }))
    .sort((left, right) => left.name.localeCompare(right.name));
}

interface Line {
  name: string;
  points: [number, number | null][];
}

/**
 * The unread records of a chart as lines: one a group, its topics' summed, null where none of them is known. Where not
 * all series are there a sum would be of some of a group's topics: then a line is one group on one topic.
 */
export function linesByGroup({ ts_ms, series, complete }: Pick<Chart, "ts_ms" | "series" | "complete">): Line[] {
  const found = new Map<string, (number | null)[]>();
  for (const { group, topic, typical } of series) {
    const name = complete ? (group ?? "") : words.lagLines.groupOnTopic(group ?? "", topic ?? "");
    const sums = found.get(name) ?? ts_ms.map(() => null);
    const plus = (sum: number | null, value: number | null | undefined) =>
      value === null || value === undefined ? sum : (sum ?? 0) + value;
    found.set(
      name,
      sums.map((sum, at) => plus(sum, typical[at])),
    );
  }
  return [...found.entries()]
    .map(([name, sums]): Line => ({ name, points: ts_ms.map((at, index) => [at, sums[index] ?? null]) }))
    .sort((left, right) => left.name.localeCompare(right.name));
}

export type Expiry = TopicRetention["groups"][number];

/** Groups whose unread records are in some danger, the worst and soonest first. */
export function endangered(rows: Expiry[]): Expiry[] {
  const left = (row: Expiry) => row.first_loss_in_s ?? Number.POSITIVE_INFINITY;
  return rows
    .filter((row) => ["warning", "danger"].includes(RISK_SEVERITY[row.status]))
    .sort(
      (one, other) =>
        RISKS.indexOf(other.status) - RISKS.indexOf(one.status) ||
        (left(one) === left(other) ? 0 : left(one) - left(other)),
    );
}

/**
 * When a group loses its first unread record at its present pace, in words. Retention takes whole segments when it
 * next looks, so it is an interval where that is known.
 */
export function lossIn(row: Expiry): string {
  if (row.status === "LOSING") return loss.now;
  if (row.first_loss_in_s === null) return loss.noneInSight;
  const spanS = lossSpanS(row);
  if (row.first_loss_in_s <= 0) return spanS === null ? loss.now : loss.within(formatDuration(spanS));
  const from = formatDuration(row.first_loss_in_s);
  const until = spanS === null ? from : formatDuration(row.first_loss_in_s + spanS);
  return from === until ? loss.in(from) : loss.between(from, until);
}

/** The same in seconds, with what it means; for hovering. */
export function lossExactly(row: Expiry): string {
  if (row.status === "LOSING" || row.first_loss_in_s === null) return loss.what;
  const spanS = lossSpanS(row);
  const firstS = Math.max(0, row.first_loss_in_s);
  const from = exactly("span", firstS);
  return spanS === null ? loss.exactly(from) : loss.exactlyBetween(from, exactly("span", firstS + spanS));
}

/** How long after the earliest moment the loss may come, in seconds; null where that is not known. */
function lossSpanS(row: Expiry): number | null {
  if (row.loss_from === null || row.loss_until === null) return null;
  return (Date.parse(row.loss_until) - Date.parse(row.loss_from)) / 1000;
}

/** The most that is known for certain of where the newest points stand, in seconds; null when nothing is. */
export function leastBehind(points: LagPoint[]): number | null {
  const known = newest(points).flatMap((point) => point.lag_seconds_at_least ?? []);
  return known.length > 0 ? Math.max(...known) : null;
}

/** Unread records; those of partitions without a commit beside them, as the bound that they are. */
export function unread(point: LagPoint): string {
  const { lag_records: lag, uncommitted_partitions: partitions, uncommitted_records: most } = point;
  if (!partitions || most === 0) return formatInteger(lag);
  const rest = most === null ? words.unread.unknownNumber : words.unread.upTo(most);
  return lag === null ? rest : words.unread.and(lag, rest);
}
