/** Shares of a whole, as people read them. */
import { formatInteger } from "./format";
import { inLanguage } from "./numerals";

/** 0.2 → "20 %"; a tenth of a per cent at most. */
export function formatShare(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const percent = Math.round(value * 1000) / 10;
  return `${percent < 0 ? "−" : ""}${inLanguage(String(Math.abs(percent)))} %`;
}

/** 0.9995 → "99.95 %": the nines are what an objective is about. */
export const sharePrecise = (share: number): string => `${inLanguage(String(Number((share * 100).toFixed(3))))} %`;

/** Far overspent, a tenth of a per cent says nothing. */
export const formatBudget = (left: number): string =>
  Math.abs(left) >= 10
    ? `${left < 0 ? "−" : ""}${formatInteger(Math.abs(Math.round(left * 100)))} %`
    : formatShare(left);
