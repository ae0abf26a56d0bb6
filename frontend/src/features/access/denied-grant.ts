/** The ACL that would have allowed a denied attempt, as the form of ACLs holds it. */
import type { DeniedAttempt } from "@/lib/denied-attempts";
import { onOneLine } from "@/lib/hostile";
import { RESOURCE_TYPES } from "@/lib/search";
import { type AclInput, BY_HAND, EMPTY_ACL, OPERATIONS } from "./acl-words";

/** `managed` are the service's own users, null while nobody has said which. Null where no ACL is the answer, or a person would not see what they grant. */
export function grantFor(attempt: DeniedAttempt, managed: string[] | null): AclInput | null {
  const username = attempt.principal.replace(/^User:/, "");
  const type = RESOURCE_TYPES.find((known) => known === attempt.resource_type);
  const operation = type && OPERATIONS[type].find((known) => known === attempt.operation);
  if (attempt.event !== "denied" || !attempt.principal.startsWith("User:") || username === "ANONYMOUS") return null;
  if (!type || !operation || attempt.resource_name === "") return null;
  if (managed === null || managed.includes(username)) return null;
  // What a client named is believed only as far as it can be read; "*" would be every name.
  const named = [username, attempt.resource_name];
  if (named.some((text) => onOneLine(text) !== text || text.trim() !== text || text === "*")) return null;
  return {
    ...EMPTY_ACL,
    template: BY_HAND,
    custom: { ...EMPTY_ACL.custom, type, name: attempt.resource_name, operations: [operation] },
  };
}
