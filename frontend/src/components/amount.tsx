import { formatAmount } from "@/lib/format";

/** A measured amount in three digits, exact on hover; what is not known is said. */
export function Amount({ value, unit }: { value: number | null; unit: string }) {
  if (value === null) return <span className="ps-muted">not known</span>;
  return <span title={`${value} ${unit}`}>{formatAmount(value)}</span>;
}
