import { formatCost } from "@/lib/format";
import { words } from "@/words/late-parts";

const say = words.cost;

interface Costed {
  cost: string | null;
  cost_at_least?: string | null;
  currency: string | null;
}

/** A cost to the cent, exact on hover. Where a part is not known: at least what the others cost. */
export function CostFigure({ row: { cost, cost_at_least: least = null, currency } }: { row: Costed }) {
  if (cost !== null) return <span title={`${cost} ${currency ?? ""}`.trim()}>{formatCost(cost, currency)}</span>;
  if (least === null) return <span className="ps-muted">{say.notKnown}</span>;
  return <span title={say.atLeast(least, currency ?? "").trim()}>≥ {formatCost(least, currency)}</span>;
}
