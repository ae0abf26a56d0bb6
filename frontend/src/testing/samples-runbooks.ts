/** A runbook and its runs, as `samples` has the rest. */
import type { Runbook, RunbookEntry, RunbookPart, RunbookRun, RunbookRunDetail } from "@/lib/types";
import { AT, over } from "./samples";

const part = over<RunbookPart>({ type: "text", text: "", number: null, name: null, inputs: [], values: {} });
const blank = (name: string, fallback: unknown = null) => ({ name, default: fallback, required: fallback === null });

export const runbook = over<Runbook>({
  id: "group-losing-data",
  title: "A consumer group loses unread records",
  alerts: ["group-losing-data"],
  severity: "page",
  owner: "platform",
  last_verified: null,
  is_stale: true,
  est_minutes: 15,
  automation: 2,
  sections: [
    {
      title: "Meaning",
      parts: [part({ text: "Records expire unread. <script>alert(1)</script> See [disk](disk-full.md#filling)." })],
    },
    {
      title: "First five minutes",
      parts: [
        part({
          type: "check",
          text: "When does unread data expire?",
          number: 1,
          name: "group-expiry",
          inputs: [blank("cluster"), blank("group")],
        }),
        part({
          type: "check",
          text: "Is there room?",
          number: 2,
          name: "disk-usage",
          inputs: [blank("cluster")],
        }),
        part({
          type: "check",
          text: "Is it the broker?",
          number: 3,
          name: "broker-alive",
          inputs: [blank("cluster"), blank("broker")],
        }),
      ],
    },
    {
      title: "Decision",
      parts: [
        part({
          text: "| Check | Outcome | Then |\n|---|---|---|\n| `group-expiry` | bad | Take the lease. |\n\nThat is all.",
        }),
      ],
    },
    {
      title: "Act",
      parts: [
        part({
          type: "act",
          text: "Keep the topic's records longer",
          number: 1,
          name: "topic.retention_lease",
          inputs: [blank("cluster"), blank("topic"), blank("retention_ms", 1_209_600_000), blank("for_s")],
        }),
      ],
    },
  ],
  decisions: [
    { check: "group-expiry", outcome: "bad", then: "Take the lease." },
    { check: "group-expiry", outcome: "ok", then: "Mend the group." },
  ],
});
export const runbookRun = over<RunbookRun>({
  id: "rr_1",
  runbook: "group-losing-data",
  cluster_id: "c1",
  context: { group: "readers", topic: "sales", alert: "al_1" },
  state: "open",
  note: "",
  created_by: "user:ada",
  created_at: AT,
  ended_by: null,
  ended_at: null,
});
export const runbookRunDetail = (fields: Partial<RunbookRunDetail> = {}): RunbookRunDetail => ({
  ...runbookRun(),
  entries: [],
  silence: {},
  ...fields,
});
export const runbookEntry = over<RunbookEntry>({
  type: "check",
  number: 1,
  name: "group-expiry",
  outcome: "bad",
  text: "The oldest unread record of sales expires in 40 min.",
  numbers: { expires_in_s: 2400, lost_records: null },
  as_of: AT,
  age_s: 12,
  took_ms: 8,
  plan_id: null,
  operation_id: null,
  actor: "user:ada",
  created_at: AT,
});
