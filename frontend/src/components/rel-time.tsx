import { formatExact, formatRelative, toDate } from "@/lib/format";
import { useNow } from "@/lib/use-now";

/** "3m ago", with the exact local and UTC time on hover and for assistive technology. */
export function RelTime({ at, fallback = "–" }: { at: string | number | null | undefined; fallback?: string }) {
  const now = useNow();
  const date = toDate(at);
  if (date === null) return <span className="ps-muted">{fallback}</span>;
  return (
    <time dateTime={date.toISOString()} title={formatExact(date)} className="ps-tnum" style={{ whiteSpace: "nowrap" }}>
      {formatRelative(date, now)}
    </time>
  );
}
