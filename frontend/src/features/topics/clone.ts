/** A new topic made like another one: what of it a form starts with. Pure. */
import { TOPIC_SETTINGS } from "@/generated/settings";
import type { TopicDetail } from "@/lib/types";

export interface NewTopicValues {
  name: string;
  partitions: number | string;
  replication_factor: number | string;
  retention: string;
  cleanup: string;
  /** Lines of key=value. */
  configs: string;
}

/** Sources of settings that a topic makes itself. */
const OWN = new Set(["TOPIC_CONFIG", "DYNAMIC_TOPIC_CONFIG"]);
const NAME_MAX = 249;
const COPY = "-copy";

/**
 * What a topic is made of, under another name. Settings that the form has a choice for go there where it has the
 * value; what a reassignment has set is left out.
 */
export function startLike(topic: TopicDetail, choices: { retention: string[]; cleanup: string[] }): NewTopicValues {
  const own = new Map(
    (topic.configs ?? [])
      .filter((entry) => OWN.has(entry.source) && Object.hasOwn(TOPIC_SETTINGS, entry.name) && entry.value !== null)
      .map((entry) => [entry.name, entry.value ?? ""]),
  );
  const taken = (key: string, offered: string[]): string => {
    const value = own.get(key);
    if (value === undefined || !offered.includes(value)) return "";
    own.delete(key);
    return value;
  };
  return {
    name: topic.name.slice(0, NAME_MAX - COPY.length) + COPY,
    partitions: topic.partitions.length,
    replication_factor: Math.max(1, ...topic.partitions.map((row) => row.replicas.length)),
    retention: taken("retention.ms", choices.retention),
    cleanup: taken("cleanup.policy", choices.cleanup),
    configs: [...own].map(([key, value]) => `${key}=${value}`).join("\n"),
  };
}
