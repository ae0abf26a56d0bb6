import { rich, type Slot } from "../rich";
import { count } from "./grammar";

export const drift = {
  page: {
    title: "Changed outside",
    sub: "What is not as the last verified operation left it, since when, by whom, and the plans that mend it either way. What no operation was about is not compared.",
    marked: (n: number) => count(n, { one: "# difference", other: "# differences" }),
    notAsLeft: "Not as the last verified operation left it",
    compared: "What is compared",
  },
  areas: {
    setting: "broker setting",
    quota: "quota",
    replicas: "replicas",
    topic: "topic",
    user: "user",
    acl: "ACL",
  },
  of: {
    setting: "Settings of brokers",
    quota: "Quotas",
    replicas: "Replicas",
    topic: "Topics",
    user: "Users",
    acl: "ACLs",
  },
  table: {
    fieldOf: (field: string, name: string) => `${field} of ${name}`,
    label: "Differences",
    changed: "Changed",
    isNow: "Is now",
    wasLeftAs: "Was left as",
    notSet: "not set",
    byThisOperation: "by this operation",
    operationThatLeft: (name: string) => `Operation that left ${name}`,
    isARule: "a rule of this service",
    when: "When",
    who: "Who",
    mend: "What to do",
    nothing: "Nothing was changed outside",
    nothingKnown: "Nothing is known to be changed outside",
    allAsLeft: "All that was compared is as the last verified operation left it.",
    leftOut: (n: number) =>
      `${count(n, { one: "# more difference is", other: "# more differences are" })} not listed: mend these first.`,
    underWay: (n: number) =>
      `${count(n, { one: "# operation is", other: "# operations are" })} under way: of what they may change nothing is said until they have ended.`,
    openOperations: "Open operations",
  },
  ages: {
    neverRead: "not read yet",
    unknown: "unknown",
    none: "none",
    differences: (n: number) => count(n, { one: "# difference", other: "# differences" }),
    seen: (at: Slot) => rich`as seen ${at}`,
    staleBecause: (what: string, reason: string) => `${what} are compared as they were read last: ${reason}`,
    unknownBecause: (what: string, reason: string) => `Whether ${what} were changed is unknown: ${reason}`,
  },
};
