import { toDate } from "@/lib/format";
import { useNow } from "@/lib/use-now";
import { words } from "@/words/parts";
import { RelTime } from "./rel-time";

const say = words.asOf;

interface AsOfProps {
  at: string | null | undefined;
  /** When newer numbers were due at the latest. */
  staleAfter: string | null | undefined;
}

/** The age of numbers; said aloud once newer ones should have been there. */
export function AsOf({ at, staleAfter }: AsOfProps) {
  const now = useNow();
  const due = toDate(staleAfter);
  if (!at) return null;
  if (due !== null && now > due.getTime()) return <span className="ps-warn">{say.staleAsOf(<RelTime at={at} />)}</span>;
  return <span className="ps-muted">{say.asOf(<RelTime at={at} />)}</span>;
}
