import { AclDiff } from "@/components/diffs/acl-diff";
import type { AclRule } from "@/lib/types";
import { words } from "@/words/access";

const say = words.aclPreview;

/** The exact rules that a form will ask for, before any plan is made. */
export function AclPreview({ bindings }: { bindings: Required<AclRule>[] | null }) {
  if (!bindings) return null;
  return (
    <details>
      <summary style={{ cursor: "pointer", fontSize: "0.8125rem" }}>{say.adds(bindings.length)}</summary>
      <AclDiff bindings={bindings} added />
    </details>
  );
}
