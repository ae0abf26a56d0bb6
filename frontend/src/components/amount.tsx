import { formatAmount } from "@/lib/format";
import { words } from "@/words/parts";

const say = words.amount;

/** A measured amount in three digits, exact on hover; what is not known is said. */
export function Amount({ value, unit }: { value: number | null; unit: string }) {
  if (value === null) return <span className="ps-muted">{say.notKnown}</span>;
  return <span title={`${value} ${unit}`}>{formatAmount(value)}</span>;
}
