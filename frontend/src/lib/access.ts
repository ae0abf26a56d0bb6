/** Who may do what: the matrix of ACLs, and the answer to one question. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { components } from "@/generated/api";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import type { QueryOf } from "./addresses";

type Schemas = components["schemas"];
export type AccessMatrix = Schemas["AccessMatrix"];
export type MatrixEntry = Schemas["MatrixEntry"];
export type AccessDecision = Schemas["AccessDecision"];
export type AclTemplate = Schemas["AclTemplate"];

const MATRIX = "/api/v1/clusters/{cluster_id}/access/matrix";
const DECISION = "/api/v1/clusters/{cluster_id}/access/decision";
export type MatrixQuery = QueryOf<typeof MATRIX>;
export type DecisionQuery = QueryOf<typeof DECISION>;

/** Principals on one page of the matrix. */
export const PRINCIPALS_A_PAGE = 25;

export const useAccessMatrix = (clusterId: string, query: MatrixQuery) =>
  useQuery({
    queryKey: ["page", "access-matrix", clusterId, query],
    queryFn: ({ signal }) =>
      api.get(MATRIX, {
        blanks: { cluster_id: clusterId },
        query: { ...query, page_size: PRINCIPALS_A_PAGE },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** Asked only while there is a whole question. */
export const useAccessDecision = (clusterId: string, query: DecisionQuery | null) =>
  useQuery({
    queryKey: ["page", "access-decision", clusterId, query],
    queryFn: ({ signal }) =>
      api.get(DECISION, { blanks: { cluster_id: clusterId }, query: query ?? undefined, signal }),
    enabled: query !== null,
  });
