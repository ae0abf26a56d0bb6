/** The languages of the console, and which of them somebody gets. */
import { type Language, speakIn } from "./shown";

type Load = () => Promise<Language>;

/** By tag. English is in the bundle; another one is a chunk that is loaded when it is chosen:
 * `{ en: null, de: () => import("./de").then(({ de }) => de) }`. */
export const LANGUAGES: Record<string, Load | null> = { en: null };

const KEPT_AS = "penstock.language";

/** The first of `wanted` that is `offered`, itself ("pt-BR") or as a language ("pt"); otherwise English. */
export function pick(wanted: readonly string[], offered: readonly string[]): string {
  for (const tag of wanted) {
    const found = offered.find((one) => one.toLowerCase() === tag.toLowerCase());
    if (found) return found;
    const base = tag.toLowerCase().split("-")[0];
    const near = offered.find((one) => one.toLowerCase() === base);
    if (near) return near;
  }
  return "en";
}

/** What this person chose here, then what the browser says of them. */
function wanted(): string[] {
  const kept = localStorage.getItem(KEPT_AS);
  return [...(kept ? [kept] : []), ...navigator.languages];
}

/** Keeps the choice for the next time that the console is opened in this browser. */
export const keepLanguage = (tag: string): void => localStorage.setItem(KEPT_AS, tag);

/** Loads and uses the language that is wanted; with English that is at once. A language that cannot be loaded leaves
 * the console in English: that is better than no console. */
export async function speak(languages = LANGUAGES): Promise<string> {
  const tag = pick(wanted(), Object.keys(languages));
  const load = languages[tag];
  if (!load) return "en";
  try {
    speakIn(await load());
    document.documentElement.lang = tag;
    return tag;
  } catch {
    return "en";
  }
}
