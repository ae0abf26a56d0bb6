/** What a reset may go by, as the form holds it and as a plan takes it. */
import type { PlanInputs } from "@/lib/types";
import { words } from "@/words/groups";

/** What a reset takes, but for the group, which the page knows. */
export type ResetInputs = Omit<PlanInputs<"offset.reset">, "group">;
export type Strategy = ResetInputs["strategy"];

const IDS: Strategy[] = ["earliest", "latest", "timestamp", "duration", "shift", "offset", "file", "copy"];
export const STRATEGIES = IDS.map((id) => ({ id, ...words.strategies[id] }));

export const UNITS_MS = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
export type Unit = keyof typeof UNITS_MS;

export interface Chosen {
  strategy: Strategy;
  /** Local, as the field holds it. */
  time: string;
  number: number | string;
  ago: number | string;
  unit: Unit;
  file: string;
  fromGroup: string;
  topics: string[];
  /** Names of partitions; empty: all of the topics. */
  partitions: string[];
}

/** The inputs of a plan; undefined while something is missing or cannot be read. */
export function inputsOf(chosen: Chosen): ResetInputs | undefined {
  const { strategy } = chosen;
  if (strategy === "file") return chosen.file.trim() === "" ? undefined : { strategy, file: chosen.file };
  const where = scopeOf(chosen);
  if (strategy === "copy") {
    const source = chosen.fromGroup.trim();
    return source === "" ? undefined : { strategy, from_group: source, ...where };
  }
  if (strategy === "earliest" || strategy === "latest") return { strategy, ...where };
  const value = valueOf(chosen);
  return Number.isSafeInteger(value) ? { strategy, value, ...where } : undefined;
}

function valueOf({ strategy, time, number, ago, unit }: Chosen): number {
  if (strategy === "timestamp") return new Date(time).getTime();
  if (strategy === "duration") return ago === "" ? Number.NaN : Math.round(Number(ago) * UNITS_MS[unit]);
  return number === "" ? Number.NaN : Number(number);
}

function scopeOf({ topics, partitions }: Chosen): Pick<ResetInputs, "topics" | "partitions"> {
  if (partitions.length > 0) return { partitions: partitions.map(partitionOf) };
  return topics.length > 0 ? { topics } : {};
}

/** "orders-3": a topic's name may hold hyphens, so the number is behind the last one. */
function partitionOf(name: string): { topic: string; partition: number } {
  const at = name.lastIndexOf("-");
  return { topic: name.slice(0, at), partition: Number(name.slice(at + 1)) };
}
