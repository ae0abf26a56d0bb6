/** Users of a cluster as they are typed: the server searches, for a cluster may have thousands. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api } from "./api-client";

/** How many a field offers; who wants others types more of the name. */
const OFFERED_MAX = 20;
/** Pause after the last key before the server is asked, ms. */
const PAUSE_MS = 150;
const FRESH_MS = 30_000;

/** Names of users that hold `text`, without the service's own. */
export function useUserNames(clusterId: string, text: string): string[] {
  const [q] = useDebouncedValue(text.trim().replace(/^User:/, ""), PAUSE_MS);
  const query = useQuery({
    queryKey: ["user-search", clusterId, q],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/users", {
        blanks: { cluster_id: clusterId },
        query: { q: q || undefined, page_size: OFFERED_MAX },
        signal,
      }),
    staleTime: FRESH_MS,
    placeholderData: keepPreviousData,
  });
  return (query.data?.data ?? []).filter((user) => !user.managed).map((user) => user.username);
}
