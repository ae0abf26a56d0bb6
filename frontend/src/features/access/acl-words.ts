/** Templates of ACLs for what people mean, and what the form of ACLs holds. */
import { ACL_TEMPLATES } from "@/generated/settings";
import type { AclTemplate } from "@/lib/access";
import { operationWords } from "@/lib/acl-words";
import type { AclBinding, AclRule } from "@/lib/types";
import { words } from "@/words/access";

const say = words.aclWords;

/** Every word said: what the service would fill in is shown before it is asked for. */
type Rule = Required<AclRule>;
type Operation = Rule["operation"];
type ResourceType = Rule["resource_type"];

/** The service's own template, by its name. */
export const templateOf = (name: string): AclTemplate | undefined =>
  ACL_TEMPLATES.find((template) => template.name === name);

interface TemplateWords {
  title: string;
  text: string;
  asks: Readonly<Record<string, string>>;
}
const TEMPLATES: Readonly<Record<string, TemplateWords>> = words.aclTemplates;

/** A template in words; one that this console does not know yet in the service's. */
export function templateWords(name: string): TemplateWords {
  const known = TEMPLATES[name];
  if (known) return known;
  const { title = name, text = "", asks = [] } = templateOf(name) ?? {};
  return { title, text, asks: Object.fromEntries(asks.map((field) => [field.name, field.title])) };
}

/** The exact rules of a template; none while a required field is empty. As the service expands it. */
export function templateBindings(
  template: AclTemplate,
  principal: string,
  values: Readonly<Record<string, string>>,
  prefixes: readonly string[],
): Rule[] {
  const valueOf = (field: string | null) => (field === null ? undefined : values[field]?.trim());
  if (template.asks.some((field) => field.is_required && !valueOf(field.name))) return [];
  return template.rules
    .filter((rule) => rule.field === null || valueOf(rule.field))
    .flatMap((rule) =>
      rule.operations.map((operation) => ({
        principal,
        host: "*",
        operation: operation as Operation,
        permission: "ALLOW" as const,
        resource_type: rule.resource_type as ResourceType,
        resource_name: rule.field === null ? rule.name : `${valueOf(rule.field) ?? ""}${rule.suffix}`,
        pattern_type: rule.is_prefix || (rule.field !== null && prefixes.includes(rule.field)) ? "PREFIXED" : "LITERAL",
      })),
    );
}

/** No template: any rule, said word by word. */
export const BY_HAND = "custom";

/** What the form of ACLs holds. */
export interface AclInput {
  /** A template's name, or BY_HAND. */
  template: string;
  /** By field of the template. */
  values: Record<string, string>;
  /** The fields of which every name that begins so is meant. */
  prefixes: string[];
  custom: {
    permission: Rule["permission"];
    type: ResourceType;
    name: string;
    prefixed: boolean;
    operations: Operation[];
    host: string;
  };
}

export const EMPTY_ACL: AclInput = {
  template: ACL_TEMPLATES[0]?.name ?? BY_HAND,
  values: {},
  prefixes: [],
  custom: { permission: "ALLOW", type: "TOPIC", name: "", prefixed: false, operations: ["READ"], host: "*" },
};

/** The rules that the form asks for; null while it says too little. */
export function aclBindings(acl: AclInput, username: string): Rule[] | null {
  if (username.trim() === "") return null;
  const principal = `User:${username.trim()}`;
  const template = templateOf(acl.template);
  const rules = template
    ? templateBindings(template, principal, acl.values, acl.prefixes)
    : customBindings(acl.custom, principal);
  return rules.length > 0 ? rules : null;
}

function customBindings(custom: AclInput["custom"], principal: string): Rule[] {
  const name = custom.type === "CLUSTER" ? CLUSTER_RESOURCE : custom.name.trim();
  if (name === "") return [];
  return custom.operations.map((operation) => ({
    principal,
    host: custom.host.trim() || "*",
    operation,
    permission: custom.permission,
    resource_type: custom.type,
    resource_name: name,
    pattern_type: custom.prefixed && custom.type !== "CLUSTER" ? "PREFIXED" : "LITERAL",
  }));
}

/** Operations that Kafka knows for each type of resource. */
export const OPERATIONS: Record<ResourceType, Operation[]> = {
  TOPIC: ["READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL"],
  GROUP: ["READ", "DELETE", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "ALL"],
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

const SHORT: Readonly<Record<string, string>> = say.shortOperations;

/** An operation as it stands in a cell of the matrix; its whole name is said beside it. */
export const shortOperation = (operation: string): string => SHORT[operation] ?? operationWords(operation);
