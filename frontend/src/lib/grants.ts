/** Roles by pattern: what one says in words, and what its patterns cover. Names compare letter by letter. */
import type { Grant } from "./types";

export type Pattern = Grant["clusters"];
/** With one of these a prefix ends, so that `team-a-` never covers `team-ab`. */
const SEPARATORS = [".", "-", "_", "/", ":"];
/** Of one member or key. */
export const GRANTS_MAX = 50;
export const ANY: Pattern = { match: "any", name: "" };
export const NEW_GRANT: Grant = { role: "viewer", clusters: ANY, over: "topic", names: { match: "prefix", name: "" } };

const THINGS = { topic: "topics", group: "groups", cluster: "everything" } as const;

export function covers(pattern: Pattern, name: string): boolean {
  if (pattern.match === "any") return true;
  if (pattern.name === "") return false;
  return pattern.match === "literal" ? name === pattern.name : name.startsWith(pattern.name);
}

/** Why the service would refuse the pattern; empty when it would not. */
export function patternFault(pattern: Pattern): string {
  if (pattern.match === "any") return "";
  if (pattern.name === "") return "A name is missing.";
  if (pattern.match === "prefix" && !SEPARATORS.some((end) => pattern.name.endsWith(end))) {
    return `End it with one of ${SEPARATORS.join(" ")} so that team-a does not cover team-ab.`;
  }
  return "";
}

export const isGrant = (grant: Grant): boolean => !patternFault(grant.clusters) && !patternFault(grant.names);

const named = ({ match, name }: Pattern): string =>
  match === "literal" ? `called “${name}”` : `whose names begin with “${name}”`;

const DOES: Record<Grant["role"], string> = {
  operator: "Reads and changes",
  viewer: "Reads",
  "message-reader": "Reads, messages too,",
  "message-writer": "Reads, and writes messages to,",
};

/** "Reads and changes topics whose names begin with “team-a-”, on every cluster." */
export function grantSentence({ role, clusters, over, names }: Grant): string {
  const does = DOES[role];
  const which = over === "cluster" ? "" : names.match === "any" ? " of every name" : ` ${named(names)}`;
  const on =
    clusters.match === "any"
      ? "every cluster, those to come too"
      : clusters.match === "literal"
        ? `the cluster ${named(clusters)}`
        : `clusters ${named(clusters)}`;
  return `${does} ${THINGS[over]}${which}, on ${on}.`;
}

/** A grant in a table's cell: "operator: topics team-a-… on every cluster". */
export function grantLabel({ role, clusters, over, names }: Grant): string {
  const short = ({ match, name }: Pattern, any: string) =>
    match === "any" ? any : match === "prefix" ? `${name}…` : name;
  const what = over === "cluster" ? "everything" : `${THINGS[over]} ${short(names, "(all)")}`;
  return `${role}: ${what} on ${short(clusters, "every cluster")}`;
}
