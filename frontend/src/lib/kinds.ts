import type { OperationKind } from "./types";

/** Words for operation kinds; a kind without words does not pass the type check. */
const KINDS: Record<OperationKind, [verb: string, noun: string]> = {
  "cluster.create": ["Create cluster", "cluster"],
  "cluster.register": ["Register cluster", "cluster"],
  "cluster.credentials": ["Change the way in", "cluster"],
  "cluster.delete": ["Delete cluster", "cluster"],
  "broker.restart": ["Restart broker", "broker"],
  "topic.create": ["Create topic", "topic"],
  "topic.update": ["Change topic configuration", "topic"],
  "topic.partitions": ["Add partitions", "topic"],
  "topic.delete": ["Delete topic", "topic"],
  "topic.empty": ["Empty topic", "topic"],
  "topic.retention_lease": ["Raise retention for a time", "topic"],
  "topic.retention_restore": ["Put retention back", "topic"],
  "user.create": ["Create user", "user"],
  "user.delete": ["Delete user", "user"],
  "user.rotate": ["Rotate password", "user"],
  "user.retire": ["Remove a password", "user"],
  "quota.set": ["Set quotas", "user"],
  "acl.create": ["Add ACLs", "access"],
  "acl.delete": ["Remove ACLs", "access"],
  reassignment: ["Move partitions", "reassignment"],
  "group.delete": ["Delete group", "group"],
  "offset.reset": ["Reset offsets", "group"],
  "offset.restore": ["Restore offsets", "group"],
};

export const kindLabel = (kind: OperationKind): string => KINDS[kind][0];
export const OPERATION_KINDS = Object.keys(KINDS) as OperationKind[];
export const isKind = (text: string): text is OperationKind => Object.hasOwn(KINDS, text);
