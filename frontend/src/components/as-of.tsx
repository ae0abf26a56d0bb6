import { toDate } from "@/lib/format";
import { useNow } from "@/lib/use-now";
import { RelTime } from "./rel-time";

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
  if (due !== null && now > due.getTime())
    return (
      <span className="ps-warn">
        stale: as of <RelTime at={at} />
      </span>
    );
  return (
    <span className="ps-muted">
      as of <RelTime at={at} />
    </span>
  );
}
