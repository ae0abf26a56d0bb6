/** Rules of access in words. */
import { words } from "@/words/acls";
import type { AclBinding } from "./types";

const OPERATIONS: Readonly<Record<string, string>> = words.operations;
const TYPES: Readonly<Record<string, string>> = words.types;
/** What a newer broker knows is spelled as Kafka has it. */
const spelled = (name: string): string => name.toLowerCase().replaceAll("_", " ");

/** "describe configs" of DESCRIBE_CONFIGS. */
export const operationWords = (operation: string): string => OPERATIONS[operation.toUpperCase()] ?? spelled(operation);
/** "transactional id" of TRANSACTIONAL_ID. */
export const typeWords = (type: string): string => TYPES[type.toUpperCase()] ?? spelled(type);

/** An ACL as one sentence: "User:app may read topic starting with “demo.”" */
export function aclSentence({ principal, operation, permission, host, ...about }: AclBinding): string {
  const isPrefix = about.pattern_type.toUpperCase() === "PREFIXED";
  const resource = (isPrefix ? words.startingWith : words.named)(typeWords(about.resource_type), about.resource_name);
  const denies = permission.toUpperCase() === "DENY";
  const does = operationWords(operation);
  if (host === "*") return (denies ? words.mayNot : words.may)(principal, does, resource);
  return (denies ? words.mayNotFrom : words.mayFrom)(principal, does, resource, host);
}

type About = Pick<AclBinding, "resource_type" | "resource_name" | "pattern_type">;

/** "topic orders*" of what an ACL is about. */
export function resourceWords({ resource_type, resource_name, pattern_type }: About): string {
  if (resource_type === "CLUSTER") return words.theCluster;
  const star = pattern_type === "PREFIXED" ? "*" : "";
  return words.resource(typeWords(resource_type), `${resource_name}${star}`);
}

/** "read, describe demo.*; read group workers" for a list of one principal's rules. */
export function aclSummary(acls: AclBinding[]): string {
  const byResource = new Map<string, string[]>();
  for (const acl of acls) {
    // Most rules are about topics: their type goes without saying.
    const key =
      acl.resource_type === "TOPIC"
        ? `${acl.resource_name}${acl.pattern_type === "PREFIXED" ? "*" : ""}`
        : resourceWords(acl);
    const operation = operationWords(acl.operation);
    const verb = acl.permission === "DENY" ? words.not(operation) : operation;
    byResource.set(key, [...(byResource.get(key) ?? []), verb]);
  }
  return [...byResource].map(([resource, verbs]) => words.onResource(verbs.join(", "), resource)).join("; ");
}
