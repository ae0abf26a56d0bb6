/** Whole lists as files: what is searched for, in its order, without pages. */
import { api } from "./api-client";
import { save } from "./save";

const COMPLETE = "X-Penstock-Export-Complete";

/** Keeps the list as a CSV; whether all that match are in it. */
export async function exportList(
  list: "topics" | "groups",
  clusterId: string,
  ask: Record<string, string | number | boolean | undefined>,
): Promise<boolean> {
  const { blob, headers } = await api.download(`/console/api/exports/${list}/{cluster_id}`, {
    blanks: { cluster_id: clusterId },
    query: { ...ask, page: undefined, size: undefined } as never,
  });
  save(blob, `${list}-${new Date().toISOString().slice(0, 10)}.csv`);
  return headers.get(COMPLETE) === "true";
}
