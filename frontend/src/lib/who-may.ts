/** Whom the rules about a topic let produce to it and consume from it. Pure; super users need no rule. */
import type { AclBinding } from "./types";

/** "some": from some hosts only; "none": no rule says anything. */
export type May = "yes" | "no" | "some" | "none";

export interface PrincipalRights {
  principal: string;
  produce: May;
  consume: May;
  /** The rules that it follows from, those about everybody among them. */
  rules: AclBinding[];
}

const EVERYBODY = "User:*";
const EVERYWHERE = "*";
const PRODUCES = new Set(["WRITE", "ALL"]);
const CONSUMES = new Set(["READ", "ALL"]);

/** Every principal that a rule names, in order of its name; a rule against it counts before one for it, as in Kafka. */
export function whoMay(rules: readonly AclBinding[]): PrincipalRights[] {
  const principals = [...new Set(rules.map((rule) => rule.principal))].sort();
  return principals.map((principal) => {
    const about = rules.filter((rule) => rule.principal === principal || rule.principal === EVERYBODY);
    return { principal, produce: may(about, PRODUCES), consume: may(about, CONSUMES), rules: about };
  });
}

function may(about: readonly AclBinding[], operations: ReadonlySet<string>): May {
  const found = about.filter((rule) => operations.has(rule.operation));
  const denied = found.filter((rule) => rule.permission === "DENY");
  const allowed = found.filter((rule) => rule.permission === "ALLOW");
  const anywhere = (rule: AclBinding) => rule.host === EVERYWHERE;
  if (denied.some(anywhere)) return "no";
  if (allowed.length === 0) return denied.length > 0 ? "no" : "none";
  return denied.length > 0 || !allowed.some(anywhere) ? "some" : "yes";
}
