/** ACLs in words, and templates of ACLs for what people mean. */
import type { AclBinding, AclRule } from "@/lib/types";

/** "read, describe demo.*; read group workers" for a list of one principal's rules. */
export function aclSummary(acls: AclBinding[]): string {
  const byResource = new Map<string, string[]>();
  for (const acl of acls) {
    const name = acl.pattern_type === "PREFIXED" ? `${acl.resource_name}*` : acl.resource_name;
    const kind = acl.resource_type === "TOPIC" ? "" : `${acl.resource_type.toLowerCase().replace("_", " ")} `;
    const key = acl.resource_type === "CLUSTER" ? "the cluster" : `${kind}${name}`;
    const verb = `${acl.permission === "DENY" ? "not " : ""}${acl.operation.toLowerCase().replaceAll("_", " ")}`;
    byResource.set(key, [...(byResource.get(key) ?? []), verb]);
  }
  return [...byResource].map(([resource, verbs]) => `${verbs.join(", ")} ${resource}`).join("; ");
}

/** Every word said: what the service would fill in is shown before it is asked for. */
type Rule = Required<AclRule>;
type Operation = Rule["operation"];
type ResourceType = Rule["resource_type"];
export type Purpose = "consume" | "produce" | "custom";

interface Target {
  principal: string;
  name: string;
  prefixed: boolean;
  group?: string;
}

const rule = (target: Target, operation: Operation, resource_type: ResourceType, resource_name: string): Rule => ({
  principal: target.principal,
  host: "*",
  operation,
  permission: "ALLOW",
  resource_type,
  resource_name,
  pattern_type: target.prefixed && resource_type === "TOPIC" ? "PREFIXED" : "LITERAL",
});

/** The rules that an application needs to consume from or produce to topics. */
export function templateBindings(purpose: "consume" | "produce", target: Target): Rule[] {
  if (purpose === "produce")
    return [rule(target, "WRITE", "TOPIC", target.name), rule(target, "DESCRIBE", "TOPIC", target.name)];
  const bindings = [rule(target, "READ", "TOPIC", target.name), rule(target, "DESCRIBE", "TOPIC", target.name)];
  return target.group ? [...bindings, rule(target, "READ", "GROUP", target.group)] : bindings;
}

/** What the form of an ACL holds. */
export interface AclInput {
  purpose: Purpose;
  /** The topic, or in a rule by hand the resource's name. */
  name: string;
  prefixed: boolean;
  /** The consumer group; empty gives none. */
  group: string;
  custom: {
    permission: Rule["permission"];
    type: ResourceType;
    operations: Operation[];
    host: string;
  };
}

export const EMPTY_ACL: AclInput = {
  purpose: "consume",
  name: "",
  prefixed: false,
  group: "",
  custom: { permission: "ALLOW", type: "TOPIC", operations: ["READ"], host: "*" },
};

export const isOnCluster = (acl: AclInput): boolean => acl.purpose === "custom" && acl.custom.type === "CLUSTER";

/** The rules that the form asks for; null while it says too little. */
export function aclBindings(acl: AclInput, username: string): Rule[] | null {
  const { purpose, custom, prefixed } = acl;
  const name = acl.name.trim();
  const principal = `User:${username.trim()}`;
  const onCluster = isOnCluster(acl);
  if (username.trim() === "" || (!onCluster && name === "")) return null;
  if (purpose !== "custom")
    return templateBindings(purpose, { principal, name, prefixed, group: acl.group.trim() || undefined });
  if (custom.operations.length === 0) return null;
  return custom.operations.map((operation) => ({
    principal,
    host: custom.host.trim() || "*",
    operation,
    permission: custom.permission,
    resource_type: custom.type,
    resource_name: onCluster ? CLUSTER_RESOURCE : name,
    pattern_type: prefixed && !onCluster ? "PREFIXED" : "LITERAL",
  }));
}

/** Operations that Kafka knows for each type of resource. */
export const OPERATIONS: Record<ResourceType, Operation[]> = {
  TOPIC: ["READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL"],
  GROUP: ["READ", "DELETE", "DESCRIBE", "ALL"],
  TRANSACTIONAL_ID: ["WRITE", "DESCRIBE", "ALL"],
  CLUSTER: [
    "CREATE",
    "ALTER",
    "DESCRIBE",
    "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
    "ALL",
  ],
};

/** Rules that the brokers listed, as a plan takes them: their words are free text there, and checked by the server. */
export const asRules = (bindings: AclBinding[]): AclRule[] =>
  bindings.map(
    ({ principal, host, operation, permission, resource_type, resource_name, pattern_type }) =>
      ({ principal, host, operation, permission, resource_type, resource_name, pattern_type }) as AclRule,
  );

export const CLUSTER_RESOURCE = "kafka-cluster";
