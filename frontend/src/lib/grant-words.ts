/** Roles, and roles by pattern, in words; and why a pattern is none. */
import { words } from "@/words/grants";
import type { Pattern } from "./grants";
import type { Grant, Role } from "./types";
import { wordOf } from "./word-of";

/** With one of these a prefix ends, so that `team-a-` never covers `team-ab`. */
const SEPARATORS = [".", "-", "_", "/", ":"];

/** Why the service would refuse the pattern; empty when it would not. */
export function patternFault(pattern: Pattern): string {
  if (pattern.match === "any") return "";
  if (pattern.name === "") return words.nameIsMissing;
  if (pattern.match === "prefix" && !SEPARATORS.some((end) => pattern.name.endsWith(end)))
    return words.endPrefix(SEPARATORS.join(" "));
  return "";
}

export const isGrant = (grant: Grant): boolean => !patternFault(grant.clusters) && !patternFault(grant.names);

/** "message reader" of message-reader, in one word also the scope of a key. */
export const roleWord = (role: string): string => wordOf(words.names, role);

type Of = "topics" | "groups" | "clusters";
const phrase = (of: Of, { match, name }: Pattern): string => (match === "any" ? words[of].any : words[of][match](name));
const short = (of: Of, { match, name }: Pattern): string =>
  match === "any" ? words[of].all : words[of].short(match === "prefix" ? `${name}…` : name);

/** "Reads and changes topics whose names begin with “team-a-”, on every cluster." */
export function grantSentence({ role, clusters, over, names }: Grant): string {
  const what = over === "cluster" ? words.everything : phrase(`${over}s`, names);
  return words.does[role](what, phrase("clusters", clusters));
}

/** A grant in a table's cell: "operator: topics team-a-… on every cluster". */
export function grantLabel({ role, clusters, over, names }: Grant): string {
  const what = over === "cluster" ? words.everything : short(`${over}s`, names);
  return words.label(roleWord(role), what, short("clusters", clusters));
}

/** What somebody may be in a tenant, as a form offers it. */
export const roleChoices = (): { value: Role; label: string }[] =>
  (["limited", "viewer", "operator", "owner"] as const).map((value) => ({ value, label: words.roles[value] }));
