/** What the fields of requests are called, where a problem is about one or a form asks for one by its name. */
import { words } from "@/words/fields";
import { pathOf } from "./problem";

const NAMES: Readonly<Record<string, string>> = words.names;

/** A name that a newer service sends is spelled out. */
export function fieldName(name: string): string {
  if (Object.hasOwn(NAMES, name)) return NAMES[name] ?? name;
  const text = name.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The field that a pointer names, as people call it: "/inputs/replication_factor" → "Replication factor". */
export function fieldLabel(pointer: string): string {
  const names = pathOf(pointer)
    .split("/")
    .filter((name) => name !== "" && name !== "inputs");
  const last = names.at(-1) ?? "";
  // Kafka's own keys stay as they are spelled; the place in a list is counted as people do.
  if (last === "" || last.includes(".")) return last;
  if (!/^\d+$/.test(last)) return fieldName(last);
  return words.place(fieldName(names.at(-2) ?? ""), Number(last) + 1).trim();
}
