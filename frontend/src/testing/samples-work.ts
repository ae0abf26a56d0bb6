/** Analyses that operators have computed again, and what is hidden of messages. */
import type { Backfill } from "@/lib/backfills";
import type { Mask } from "@/lib/types";
import { AT, MADE, over } from "./samples";

export const backfill = over<Backfill>({
  ...{ id: "run_2", job: "hourly", state: "running", trigger: "manual", requested_by: "user:root" },
  ...{ from: AT, to: AT, attempt: 1, progress: { phase: "silver", done: 3, total: 4 }, eta_s: 29.6 },
  ...{ cancel_requested: false, created_at: AT, started_at: AT, finished_at: null, rows_out: 0, wall_s: null },
  error: "",
});
export const mask = over<Mask>({
  ...{ id: "mk_1", topics: { match: "prefix", name: "sales" }, part: "value", path: "card.number" },
  ...{ act: "hash", see_through: ["owner"], note: "cards", ...MADE },
});
