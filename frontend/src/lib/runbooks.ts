/** Runbooks, and the runs in which they are followed. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { aboutOf } from "./alerts";
import type { BodyOf, QueryOf } from "./addresses";
import { api } from "./api-client";
import { REFRESH_MS } from "./page";
import { isRefusal } from "./problem";
import type { Alert, Runbook, RunbookEntry, RunbookPart, RunbookRunDetail } from "./types";

export const useRunbooks = () =>
  useQuery({
    queryKey: ["page", "runbooks"],
    queryFn: ({ signal }) => api.get("/api/v1/runbooks", { signal }),
    staleTime: 60_000,
  });

export const useRunbook = (id: string) =>
  useQuery({
    queryKey: ["page", "runbook", id],
    queryFn: ({ signal }) => api.get("/api/v1/runbooks/{runbook_id}", { blanks: { runbook_id: id }, signal }),
    staleTime: 60_000,
  });

export const useRuns = (asked: QueryOf<"/api/v1/runbook-runs">) =>
  useQuery({
    queryKey: ["page", "runbook-runs", asked],
    queryFn: ({ signal }) => api.get("/api/v1/runbook-runs", { query: { page_size: 50, ...asked }, signal }),
  });

const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["page", "runbook-run", id],
    queryFn: ({ signal }) =>
      api.get("/api/v1/runbook-runs/{runbook_run_id}", { blanks: { runbook_run_id: id }, signal }),
    refetchInterval: ({ state }) => (isRefusal(state) || state.data?.state !== "open" ? false : REFRESH_MS),
  });

export const useRun = (id: string | undefined) => useQuery({ ...runQuery(id ?? ""), enabled: id !== undefined });

/** Runs a check; what it said is recorded in the run, and shown from there. */
export function useCheck(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (number: number) =>
      api.post("/api/v1/runbook-runs/{runbook_run_id}/checks/{check_number}", {
        blanks: { runbook_run_id: runId, check_number: String(number) },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: runQuery(runId).queryKey }),
  });
}

/** Makes the plan of an act, recorded in the run; nothing is done before the plan is confirmed. */
export function useAct(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ number, inputs }: { number: number; inputs: Record<string, unknown> }) => {
      const entry = await api.post("/api/v1/runbook-runs/{runbook_run_id}/acts/{act_number}", {
        blanks: { runbook_run_id: runId, act_number: String(number) },
        body: { inputs },
      });
      return api.get("/api/v1/plans/{plan_id}", { blanks: { plan_id: entry.plan_id ?? "" } });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: runQuery(runId).queryKey }),
  });
}

/** What a run can be about, by the names of the documents' blanks. */
export const SUBJECTS = ["cluster", "group", "topic", "broker", "operation", "user"] as const;
export type Subject = (typeof SUBJECTS)[number];
export type Subjects = Partial<Record<Subject, string>>;

const isSubject = (name: string): name is Subject => SUBJECTS.some((subject) => subject === name);

/** What the checks and acts of a runbook want to know of its subject, in the order of `SUBJECTS`. */
export function wantedBy(runbook: Pick<Runbook, "sections">): Subject[] {
  const names = new Set(
    runbook.sections.flatMap((section) => section.parts.flatMap((part) => part.inputs.map((one) => one.name))),
  );
  return SUBJECTS.filter((subject) => names.has(subject));
}

/** What an alert says of the subject of its runbook. */
export function subjectsOf(alert: Alert): Subjects {
  const { group, topic, operation } = aboutOf(alert);
  const of = alert.unit === "brokers" && alert.member_count === 1 ? /\d+/.exec(alert.members[0] ?? "")?.[0] : undefined;
  return { cluster: alert.cluster_id ?? undefined, group, topic, operation, broker: of };
}

/** A run as the server takes it; what is not known is left out. */
export function startOf(about: Subjects, alertId: string | undefined): BodyOf<"/api/v1/runbooks/{runbook_id}/runs"> {
  return {
    cluster_id: about.cluster || null,
    ...(about.group ? { group: about.group } : {}),
    ...(about.topic ? { topic: about.topic } : {}),
    ...(about.broker ? { broker: Number(about.broker) } : {}),
    ...(about.operation ? { operation_id: about.operation } : {}),
    ...(about.user ? { user: about.user } : {}),
    ...(alertId ? { alert_id: alertId } : {}),
  };
}

/** Blanks that are text whatever they look like, and those that are lists of broker ids. */
const TEXTS = new Set(["group", "topic", "user", "mechanism", "reason", "operation"]);
const LISTS = new Set(["target_brokers"]);

/** What somebody typed into a blank, as the plan takes it. */
export function blankValue(name: string, typed: string): unknown {
  const text = typed.trim();
  if (LISTS.has(name)) return text.split(/[\s,]+/).map((item) => (/^\d+$/.test(item) ? Number(item) : item));
  return !TEXTS.has(name) && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** The blanks of a check or an act that the run does not fill in. */
export function blanksLeft(part: RunbookPart, run: Pick<RunbookRunDetail, "cluster_id" | "context">) {
  const known = new Set([...Object.keys(run.context), ...(run.cluster_id ? ["cluster"] : [])]);
  return part.inputs.filter((input) => !known.has(input.name));
}

/** What a part needs of the run's subject and does not get: it cannot be run in this run. */
export const missingFor = (part: RunbookPart, run: Pick<RunbookRunDetail, "cluster_id" | "context">): string[] =>
  blanksLeft(part, run)
    .filter((input) => input.required && isSubject(input.name))
    .map((input) => input.name);

/** The newest entry of a check or an act. */
export function latest(
  entries: readonly RunbookEntry[],
  type: RunbookEntry["type"],
  number: number | null,
): RunbookEntry | undefined {
  return entries.findLast((entry) => entry.type === type && entry.number === number);
}
