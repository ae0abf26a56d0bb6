/** What is set already of whom a form asks about: the server searches, for a cluster may bound thousands. */
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { api } from "./api-client";
import { entityOf } from "./quotas";
import type { ClientQuota, PlanInputs } from "./types";

export type QuotaEntity = Pick<PlanInputs<"quota.set">, "user" | "client_id">;

/** Pause after the last key before the server is asked, ms. */
const PAUSE_MS = 150;

const isSame = (one: QuotaEntity, other: QuotaEntity): boolean =>
  one.user === other.user && one.client_id === other.client_id;

/** The quotas of exactly this entity; undefined while they are not known, and when there are none. */
export function useQuotaOf(clusterId: string, entity: QuotaEntity | null): ClientQuota | undefined {
  const name = entity?.client_id ?? entity?.user ?? undefined;
  const [q] = useDebouncedValue(name, PAUSE_MS);
  const query = useQuery({
    queryKey: ["quota-search", clusterId, q],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/quotas", { blanks: { cluster_id: clusterId }, query: { q }, signal }),
    // What is about to be asked for by its name is not asked for as a whole meanwhile.
    enabled: entity !== null && q === name,
  });
  return query.data?.data.find((one) => entity !== null && isSame(entityOf(one), entity));
}
