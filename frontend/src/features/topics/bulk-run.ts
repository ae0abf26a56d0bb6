/** Several topics, each with a plan and an operation of its own: one that fails leaves the others as they are. */
import { api, fingerprint } from "@/lib/api-client";
import { TERMINAL } from "@/lib/operations";
import type { Operation, Plan, PlanRequest } from "@/lib/types";

/** Topics that are changed in one go. */
export const BULK_MAX = 50;
/** Plans are made, and operations are under way, at a time. */
const AT_A_TIME = 3;
/** How often an operation is looked at, ms. */
const LOOK_MS = 1_500;

export interface BulkRow {
  name: string;
  plan?: Plan;
  operation?: Operation;
  /** Why there is no plan, or it was not begun, or nobody knows how it goes. */
  problem?: string;
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Does `work` for each, a few at a time; what one throws is that one's. */
async function each(rows: BulkRow[], work: (row: BulkRow) => Promise<void>): Promise<void> {
  const left = [...rows];
  const worker = async () => {
    for (let row = left.shift(); row; row = left.shift()) await work(row);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** Plans all; `onRow` hears of each as it is known. */
export const planAll = (names: string[], request: (name: string) => PlanRequest, onRow: (row: BulkRow) => void) =>
  each(
    names.slice(0, BULK_MAX).map((name) => ({ name })),
    async ({ name }) => {
      try {
        onRow({ name, plan: await api.post("/api/v1/plans", { body: request(name) }) });
      } catch (error) {
        onRow({ name, problem: words(error) });
      }
    },
  );

/** Begins what was planned and looks at each until it has ended. The person has confirmed all of them at once. */
export const runAll = (rows: BulkRow[], signal: AbortSignal, onRow: (row: BulkRow) => void) =>
  each(
    rows.filter(({ plan }) => plan !== undefined),
    async (row) => {
      if (signal.aborted || !row.plan) return;
      let operation: Operation | undefined;
      try {
        operation = await begun(row.plan);
        onRow({ ...row, operation });
        while (!TERMINAL.has(operation.state) && !signal.aborted) {
          await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
          operation = await api.get("/api/v1/operations/{operation_id}", {
            blanks: { operation_id: operation.id },
            signal,
          });
          onRow({ ...row, operation });
        }
      } catch (error) {
        if (!signal.aborted) onRow({ ...row, operation, problem: words(error) });
      }
    },
  );

function begun(plan: Plan): Promise<Operation> {
  const body = { plan_id: plan.id, plan_hash: plan.plan_hash, confirm: plan.confirm_phrase ?? undefined };
  // The same confirmation has the same key: sent again, it is carried out once.
  return api.post("/api/v1/operations", { body, idempotencyKey: `${plan.id}-${fingerprint(JSON.stringify(body))}` });
}
