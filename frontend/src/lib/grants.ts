/** Roles by pattern: what their patterns cover. Names compare letter by letter. */
import type { Grant } from "./types";

export type Pattern = Grant["clusters"];
/** Of one member or key. */
export const GRANTS_MAX = 50;
export const ANY: Pattern = { match: "any", name: "" };
export const NEW_GRANT: Grant = { role: "viewer", clusters: ANY, over: "topic", names: { match: "prefix", name: "" } };

export function covers(pattern: Pattern, name: string): boolean {
  if (pattern.match === "any") return true;
  if (pattern.name === "") return false;
  return pattern.match === "literal" ? name === pattern.name : name.startsWith(pattern.name);
}
