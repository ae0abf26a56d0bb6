import type { AclBinding } from "@/lib/types";

/** An ACL as one sentence. */
export function aclSentence(acl: AclBinding): string {
  const pattern = acl.pattern_type.toUpperCase() === "PREFIXED" ? " starting with" : "";
  const verb = acl.permission.toUpperCase() === "DENY" ? "may not" : "may";
  const from = acl.host === "*" ? "" : ` from ${acl.host}`;
  return `${acl.principal} ${verb} ${acl.operation.toLowerCase()} ${acl.resource_type.toLowerCase()}${pattern} “${acl.resource_name}”${from}`;
}

interface AclDiffProps {
  bindings: AclBinding[];
  added: boolean;
}

/** ACLs that come or go, as sentences; those that change nothing are left to the plan's warnings. */
export function AclDiff({ bindings: rows, added }: AclDiffProps) {
  return (
    <ul style={{ margin: 0, paddingLeft: 0, listStyle: "none", fontSize: "0.8125rem" }} aria-label="ACLs">
      {rows.map((acl, index) => (
        <li key={index} style={{ display: "flex", gap: 8, padding: "4px 0" }}>
          <strong className={added ? "ps-ok" : "ps-bad"} aria-label={added ? "added" : "removed"}>
            {added ? "+" : "−"}
          </strong>
          <span>{aclSentence(acl)}</span>
        </li>
      ))}
    </ul>
  );
}
