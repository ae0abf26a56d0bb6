/** Lag objectives: how late groups may be and for how much of the time; those that are set, and how they are kept. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { words } from "@/words/objective-parts";
import { api } from "./api-client";
import { formatDuration } from "./format";
import type { ObjectiveRow } from "./insights";
import { sharePrecise } from "./shares";

const say = words.objective;

export type LagObjective = components["schemas"]["LagObjective"];
export type Verdict = ObjectiveRow["verdict"];

const ALL = { page_size: 500 };

export const useLagObjectives = () =>
  useQuery({
    queryKey: ["page", "lag-objectives"],
    queryFn: ({ signal }) => api.get("/api/v1/lag-objectives", { query: ALL, signal }),
  });

/** "at most 1m behind for 99 % of the time" */
export const targetWords = ({ seconds, share }: { seconds: number; share: number }): string =>
  say.target(formatDuration(seconds), sharePrecise(share));

/** What of the clusters' groups an objective covers, in words. */
export function coversWords(
  { match, group, topic }: Pick<LagObjective, "match" | "group" | "topic">,
  cluster: string | null,
): string {
  const who = group === null ? say.everyGroup : match === "prefix" ? say.groupsLike(group) : say.oneGroup(group);
  const what = topic === null ? say.everyTopic : say.oneTopic(topic);
  return say.covers(who, what, cluster ?? say.everyCluster);
}

/** Seconds as a field takes them, in the largest unit that is whole. */
export function inUnits(seconds: number): { amount: number; unitS: number } {
  const unitS = [86_400, 3600, 60].find((unit) => seconds >= unit && seconds % unit === 0) ?? 1;
  return { amount: seconds / unitS, unitS };
}

const RANK: Record<Verdict, number> = { fast_burn: 0, slow_burn: 1, unknown: 2, within: 3 };
/** What burns first. */
export const verdictRank = (verdict: Verdict): number => RANK[verdict];
