/** Roles by pattern. A sentence for each role, so that another language can order it as it has to. */
export const grants = {
  roles: {
    limited: "By grants only",
    viewer: "Viewer: reads",
    operator: "Operator: reads and changes",
    owner: "Owner: also administers",
  },
  /** What somebody may, in one word: roles of members and grants, scopes of keys. */
  names: {
    limited: "by grants only",
    viewer: "viewer",
    operator: "operator",
    owner: "owner",
    "message-reader": "message reader",
    "message-writer": "message writer",
    read: "read",
    write: "write",
  },
  nameIsMissing: "A name is missing.",
  endPrefix: (signs: string) => `End it with one of ${signs} so that team-a does not cover team-ab.`,
  /** What a role may do with what, on which clusters. */
  does: {
    operator: (what: string, on: string) => `Reads and changes ${what}, on ${on}.`,
    viewer: (what: string, on: string) => `Reads ${what}, on ${on}.`,
    "message-reader": (what: string, on: string) => `Reads, messages too, ${what}, on ${on}.`,
    "message-writer": (what: string, on: string) => `Reads, and writes messages to, ${what}, on ${on}.`,
  },
  everything: "everything",
  topics: {
    any: "topics of every name",
    literal: (name: string) => `topics called “${name}”`,
    prefix: (name: string) => `topics whose names begin with “${name}”`,
    short: (name: string) => `topics ${name}`,
    all: "topics (all)",
  },
  groups: {
    any: "groups of every name",
    literal: (name: string) => `groups called “${name}”`,
    prefix: (name: string) => `groups whose names begin with “${name}”`,
    short: (name: string) => `groups ${name}`,
    all: "groups (all)",
  },
  clusters: {
    any: "every cluster, those to come too",
    literal: (name: string) => `the cluster called “${name}”`,
    prefix: (name: string) => `clusters whose names begin with “${name}”`,
    short: (name: string) => name,
    all: "every cluster",
  },
  label: (role: string, what: string, on: string) => `${role}: ${what} on ${on}`,
} as const;
