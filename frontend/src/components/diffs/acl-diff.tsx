import { aclSentence } from "@/lib/acl-words";
import type { AclBinding } from "@/lib/types";
import { words } from "@/words/diffs";

const say = words.aclDiff;

interface AclDiffProps {
  bindings: AclBinding[];
  added: boolean;
}

/** ACLs that come or go, as sentences; those that change nothing are left to the plan's warnings. */
export function AclDiff({ bindings: rows, added }: AclDiffProps) {
  return (
    <ul style={{ margin: 0, paddingLeft: 0, listStyle: "none", fontSize: "0.8125rem" }} aria-label={say.acls}>
      {rows.map((acl, index) => (
        <li key={index} style={{ display: "flex", gap: 8, padding: "4px 0" }}>
          <strong className={added ? "ps-ok" : "ps-bad"} aria-label={added ? say.added : say.removed}>
            {added ? "+" : "−"}
          </strong>
          <span>{aclSentence(acl)}</span>
        </li>
      ))}
    </ul>
  );
}
