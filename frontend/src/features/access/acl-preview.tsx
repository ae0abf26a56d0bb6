import { AclDiff } from "@/components/diffs/acl-diff";
import { plural } from "@/lib/format";
import type { AclRule } from "@/lib/types";

/** The exact rules that a form will ask for, before any plan is made. */
export function AclPreview({ bindings }: { bindings: Required<AclRule>[] | null }) {
  if (!bindings) return null;
  return (
    <details>
      <summary style={{ cursor: "pointer", fontSize: "0.8125rem" }}>
        Adds {plural(bindings.length, "ACL")}, if not there already
      </summary>
      <AclDiff bindings={bindings} added />
    </details>
  );
}
