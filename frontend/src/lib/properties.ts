import { words } from "@/words/plans";

const say = words.configField;

const KEY = /^[A-Za-z0-9._-]+$/;

/** The keys that lines of `key=value` name so far, each once; lines that are none are passed over. */
export function keysIn(text: string): string[] {
  const keys = text.split("\n").map((line) => line.slice(0, Math.max(line.indexOf("="), 0)).trim());
  return [...new Set(keys.filter((key) => KEY.test(key)))];
}

/** `key=value` lines, as most Kafka properties files have them. Throws an Error that names the line. */
export function parseProperties(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  text.split("\n").forEach((raw, index) => {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) return;
    const at = line.indexOf("=");
    const key = line.slice(0, at).trim();
    if (at < 1 || !KEY.test(key)) throw new Error(say.notKeyValue(index + 1));
    if (key in found) throw new Error(say.twice(index + 1, key));
    found[key] = line.slice(at + 1).trim();
  });
  return found;
}
