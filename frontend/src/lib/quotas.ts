/** Quotas of users and client ids: what may be bounded, and how it is said. */
import { words } from "@/words/quotas";
import { formatByteRate } from "./format";
import { inLanguage } from "./numerals";
import type { ClientQuota, PlanInputs } from "./types";

export type QuotaKey = keyof ClientQuota["quotas"];
export type QuotaInputs = PlanInputs<"quota.set">;

interface Unit {
  /** How many of Kafka's own units one of a form's is. */
  scale: number;
  whole: boolean;
}

const MIB = 1024 * 1024;
export const QUOTAS: Record<QuotaKey, Unit> = {
  producer_byte_rate: { scale: MIB, whole: true },
  consumer_byte_rate: { scale: MIB, whole: true },
  request_percentage: { scale: 1, whole: false },
  controller_mutation_rate: { scale: 1, whole: false },
};
/** What each bounds, and the unit that a form asks in; a key without words does not pass the type check. */
export const quotaWords: Record<QuotaKey, { title: string; unit: string }> = words;
export const QUOTA_KEYS = Object.keys(QUOTAS) as QuotaKey[];

/** "2 MiB/s", "50 %", "5/s"; null: no quota of its own. */
export function quotaText(key: QuotaKey, value: number | null): string {
  if (value === null) return "–";
  if (QUOTAS[key].scale === MIB) return formatByteRate(value);
  const text = inLanguage(String(value));
  return key === "request_percentage" ? `${text} %` : `${text}/s`;
}

/** Of whom a row is, as a plan takes it. */
export function entityOf(row: ClientQuota): Pick<QuotaInputs, "user" | "client_id"> {
  const found: Pick<QuotaInputs, "user" | "client_id"> = {};
  for (const { type, name } of row.entity) {
    if (type === "user") found.user = name;
    if (type === "client-id") found.client_id = name;
  }
  return found;
}

/** What a form holds, by key: text in the form's unit; empty: no quota. */
export type QuotaTexts = Record<QuotaKey, string>;
export const EMPTY_TEXTS = Object.fromEntries(QUOTA_KEYS.map((key) => [key, ""])) as QuotaTexts;

export const textsOf = (quotas: ClientQuota["quotas"]): QuotaTexts =>
  Object.fromEntries(
    QUOTA_KEYS.map((key) => {
      const value = quotas[key];
      return [key, value === null ? "" : String(Number((value / QUOTAS[key].scale).toFixed(4)))];
    }),
  ) as QuotaTexts;

/** Whether a field can be planned: nothing, or a number above 0. */
export const isQuota = (text: string): boolean => text.trim() === "" || (Number(text) > 0 && Number(text) < 1e9);

/** Only what differs from `before`; null takes one away. Null as a whole: nothing changes. */
export function quotaChanges(texts: QuotaTexts, before: QuotaTexts): QuotaInputs["quotas"] | null {
  const changed = QUOTA_KEYS.filter((key) => texts[key].trim() !== before[key]);
  if (changed.length === 0) return null;
  return Object.fromEntries(
    changed.map((key) => {
      const { scale, whole } = QUOTAS[key];
      const value = Number(texts[key]) * scale;
      return [key, texts[key].trim() === "" ? null : whole ? Math.max(1, Math.round(value)) : value];
    }),
  );
}
