/** What is typed into the configuration of a topic and not yet planned. */
import { TOPIC_SETTINGS, type TopicSetting } from "@/generated/settings";
import { typedValue } from "@/lib/config-input";
import type { FieldProblems } from "@/lib/problem";
import type { ConfigEntry, PlanInputs } from "@/lib/types";

/** By key the text that is typed; null puts it back to the default. */
export type Edits = Record<string, string | null>;
export type Changes = PlanInputs<"topic.update">["configs"];

/** Whether this setting can be changed here: by its own table, and by what the brokers say of it. */
export const isEditable = (entry: ConfigEntry): boolean =>
  Object.hasOwn(TOPIC_SETTINGS, entry.name) && !entry.read_only && !entry.sensitive;

interface Judged {
  /** What a plan is asked for; what is set so already is not in it. */
  changes: Changes;
  /** By key, why what is typed cannot be planned. */
  problems: Record<string, string>;
}

/** What a plan refused of the whole, or of something that no field here stands for. */
export const elsewhere = (refused: FieldProblems, edits: Edits): string[] =>
  Object.entries(refused)
    .filter(([path]) => !(path.replace(/^configs\//, "") in edits))
    .map(([, detail]) => detail);

/** Typed texts as values; `refused` is what the last plan said of them. */
export function judged(edits: Edits, entries: readonly ConfigEntry[], refused: FieldProblems): Judged {
  const changes: Changes = {};
  const problems: Record<string, string> = {};
  for (const [name, text] of Object.entries(edits)) {
    const entry = entries.find((one) => one.name === name);
    const setting = Object.hasOwn(TOPIC_SETTINGS, name) ? TOPIC_SETTINGS[name] : undefined;
    if (!entry || !setting) continue;
    if (text === null) {
      if (!entry.is_default) changes[name] = null;
    } else {
      const typed = typedValue(name, text, setting);
      if (typed.problem !== undefined) problems[name] = typed.problem;
      // Wherever the value comes from: who opened a setting and typed nothing has changed nothing.
      else if (!isSame(typed.value, entry.value, setting)) changes[name] = typed.value;
    }
    const said = refused[`configs/${name}`];
    if (said && !problems[name]) problems[name] = said;
  }
  return { changes, problems };
}

/** Whether both say the same to Kafka: lists have no order, numbers may be written in several ways. */
function isSame(typed: string, value: string | null, { type }: TopicSetting): boolean {
  const now = value ?? "";
  if (type === "LIST") return items(typed) === items(now);
  if (type === "DOUBLE" && typed !== "" && now !== "") return Number(typed) === Number(now);
  return typed === now;
}

const items = (text: string): string =>
  text
    .split(",")
    .map((item) => item.trim())
    .sort()
    .join(",");
