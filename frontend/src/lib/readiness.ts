/** What the analyses of a cluster wait for, and until when. */
import { useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";

type Schemas = components["schemas"];
export type Readiness = Schemas["Readiness"];
export type Awaited = Schemas["Awaited"];

/** Hours come by the hour: a minute is soon enough. */
const REFRESH_MS = 60_000;

export const useReadiness = (clusterId: string) =>
  useQuery({
    queryKey: ["analytics", clusterId, "readiness"],
    queryFn: ({ signal }) =>
      api.get("/api/v1/clusters/{cluster_id}/analytics/readiness", { blanks: { cluster_id: clusterId }, signal }),
    refetchInterval: REFRESH_MS,
  });

/** Of all clusters of the tenant. */
export const useTenantReadiness = () =>
  useQuery({
    queryKey: ["analytics", "tenant-readiness"],
    queryFn: ({ signal }) => api.get("/api/v1/analytics/readiness", { signal }),
    refetchInterval: REFRESH_MS,
  });

/** Nothing has been added up yet: no analysis can say anything. */
export const hasNothing = (found: Readiness): boolean => found.hours === 0;

/** Those that cannot judge yet, the next one first; without a time they are last. */
export const waiting = (found: Readiness): Awaited[] =>
  found.data
    .filter((row) => row.state !== "ready")
    .toSorted((left, right) => timeOf(left) - timeOf(right) || left.needed - right.needed);

/** The one whose numbers come first. */
export const firstOf = (found: Readiness): Awaited | undefined => waiting(found)[0];

const timeOf = ({ first_at }: Awaited): number => (first_at === null ? Infinity : Date.parse(first_at));
