/** Rules of access in words. Operations and resource types are Kafka's. */
export const acls = {
  operations: {
    READ: "read",
    WRITE: "write",
    CREATE: "create",
    DELETE: "delete",
    ALTER: "alter",
    DESCRIBE: "describe",
    CLUSTER_ACTION: "cluster action",
    DESCRIBE_CONFIGS: "describe configs",
    ALTER_CONFIGS: "alter configs",
    IDEMPOTENT_WRITE: "idempotent write",
    ALL: "all",
  },
  types: {
    TOPIC: "topic",
    GROUP: "group",
    CLUSTER: "cluster",
    TRANSACTIONAL_ID: "transactional id",
    DELEGATION_TOKEN: "delegation token",
    USER: "user",
  },
  theCluster: "the cluster",
  /** "topic orders*"; a star stands for the rest of a name. */
  resource: (type: string, name: string) => `${type} ${name}`,
  named: (type: string, name: string) => `${type} “${name}”`,
  startingWith: (type: string, beginning: string) => `${type} starting with “${beginning}”`,
  may: (principal: string, operation: string, resource: string) => `${principal} may ${operation} ${resource}`,
  mayNot: (principal: string, operation: string, resource: string) => `${principal} may not ${operation} ${resource}`,
  mayFrom: (principal: string, operation: string, resource: string, host: string) =>
    `${principal} may ${operation} ${resource} from ${host}`,
  mayNotFrom: (principal: string, operation: string, resource: string, host: string) =>
    `${principal} may not ${operation} ${resource} from ${host}`,
  not: (operation: string) => `not ${operation}`,
  /** "read, describe demo.*" */
  onResource: (operations: string, resource: string) => `${operations} ${resource}`,
} as const;
