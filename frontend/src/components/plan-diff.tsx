import type { Plan } from "@/lib/types";
import { AclDiff } from "./diffs/acl-diff";
import { FieldDiff } from "./diffs/field-diff";
import { OffsetDiff, type OffsetDiffData } from "./diffs/offset-diff";
import { ReassignmentDiff, type ReassignmentDiffData } from "./diffs/reassignment-diff";

/** The effect of a plan, drawn for its kind; an unknown kind falls back to before and after. */
export function PlanDiff({ plan }: { plan: Plan }) {
  const { diff, kind } = plan;
  if (kind === "reassignment" && Array.isArray(diff.partitions)) {
    return <ReassignmentDiff diff={diff as unknown as ReassignmentDiffData} />;
  }
  if (kind.startsWith("offset.") && Array.isArray(diff.partitions)) {
    return <OffsetDiff diff={diff as unknown as OffsetDiffData} />;
  }
  if (kind.startsWith("acl.")) return <AclDiff diff={diff} inputs={plan.inputs} added={kind === "acl.create"} />;
  return <FieldDiff before={diff.before} after={diff.after} diff={diff} />;
}
