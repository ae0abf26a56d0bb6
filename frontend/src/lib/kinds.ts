import { words } from "@/words";
import type { OperationKind } from "./types";

/** A kind without words does not pass the type check. */
const KINDS: Record<OperationKind, string> = words.kinds;

export const kindLabel = (kind: OperationKind): string => KINDS[kind];
/** Within a sentence: "add ACLs". */
export const kindWithin = (kind: OperationKind): string => KINDS[kind].charAt(0).toLowerCase() + KINDS[kind].slice(1);
export const OPERATION_KINDS = Object.keys(KINDS) as OperationKind[];
export const isKind = (text: string): text is OperationKind => Object.hasOwn(KINDS, text);
