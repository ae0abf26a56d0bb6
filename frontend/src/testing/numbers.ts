/** The rule for numbers that people read: what is rounded or put into larger units has its exact value at hand. Pure over the document. */

/** Human forms: sizes, times in two units, compact counts, shares, rates. A plain, whole number is exact by itself. */
const HUMAN: RegExp[] = [
  /\d [KMGTP]iB\b/,
  /(?<![\w.-])\d[\d.,]*(?:ms|[dhms])(?: \d+[hms])?(?![\w-])/,
  /(?<![\w.-])\d[\d.,]*[kMTB](?![\w-])/,
  /\d %/,
  /\d\/s\b/,
];
/** What holds a choice, a heading, or a text as somebody typed it: no measured number. */
const NO_FIGURES =
  "button, label, option, input, textarea, select, code, pre, kbd, dt, th, svg, [role=option], [role=img], .mantine-Slider-root, .mantine-SegmentedControl-root";
/** An exact value: digits, with what they count. */
const EXACT = /\d.*[a-zA-Z%×]/;

/** Whether a text says a number in a form that hides its exact value. */
export const isHumanForm = (text: string): boolean => HUMAN.some((form) => form.test(text));

function isExactAtHand(element: Element): boolean {
  if (element.closest("time[datetime]")) return true;
  const held = element.closest("[title], [data-exact]");
  return EXACT.test(held?.getAttribute("data-exact") ?? held?.getAttribute("title") ?? "");
}

/** Texts below `root` with a number in human form and no exact value on hover; `isSaid`: by the server, in its own words. */
export function inexactNumbers(root: Element, isSaid: (text: string) => boolean = () => false): string[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue?.trim() ?? "";
    const element = node.parentElement;
    if (!element || !isHumanForm(text) || isSaid(text) || isExactAtHand(element)) continue;
    if (element.closest(NO_FIGURES)) continue;
    found.push(
      `“${text}” in <${element.tagName.toLowerCase()}> of “${element.closest("tr, dl, p, li, section")?.textContent?.slice(0, 80) ?? ""}”`,
    );
  }
  return found;
}
