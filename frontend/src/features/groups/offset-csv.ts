/** A group's committed offsets as kafka-consumer-groups.sh exports them: topic,partition,offset. */
import type { GroupOffset } from "@/lib/types";

const KEPT_MS = 60_000;

/** Without what is not committed: a reset from it leaves those partitions alone. */
export const csvOf = (rows: GroupOffset[]): string =>
  rows
    .filter((row) => row.committed !== null)
    .map((row) => `${row.topic},${row.partition},${row.committed}\n`)
    .join("");

/** Hand them to the browser as a file. */
export function saveOffsets(group: string, rows: GroupOffset[]): void {
  const url = URL.createObjectURL(new Blob([csvOf(rows)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${group.replace(/[^\w.-]+/g, "_")}-offsets.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
