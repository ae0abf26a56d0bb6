/** Everything on a page that can be pressed, pressed: what opens over the page is looked at, filled in, pressed on, and
 * closed again, until nothing is left that was not. */
import { act, cleanup, fireEvent, waitFor } from "@testing-library/react";
import type { QueryClient } from "@tanstack/react-query";
import { expect } from "vitest";
import { OPEN } from "./overlay-places";
import type { Answers } from "./server";

/** A page that offers more than this, or never comes to rest, is a mistake of the walk. */
const PRESSES_MAX = 400;
/** How often a page's own form is filled in: what was filled in may ask for more. */
const FORMS_MAX = 4;
/** How often something is opened for each thing that is in it. */
const OPENINGS_MAX = 14;

export interface Walked {
  /** The texts that stay English, each with what was pressed before it was seen. */
  english: string[];
  /** What was asked for, as "GET /path", and had no answer. */
  unanswered: string[];
  crashed: string[];
}

/** What has been pressed, and what there is to press in what it opened: those that share a frame share it. */
export interface Memory {
  pressed: Map<string, number>;
  inside: Map<string, Set<string>>;
  chosen: Map<string, number>;
}
export const memory = (): Memory => ({
  ...{ pressed: new Map(), inside: new Map(), chosen: new Map() },
});

interface Tools {
  open: (
    path: string,
    answers: Answers,
  ) => Promise<{
    client: QueryClient;
    asked: { method: string; url: string }[];
    crashes: unknown[];
    router: { state: { location: { pathname: string; search: { tab?: string } } } };
  }>;
  leaks: () => string[];
  standing: Answers;
  /** What a button is called that only closes. */
  closing: readonly string[];
}

const nameOf = (element: Element): string =>
  (element.getAttribute("aria-label") ?? element.textContent.trim()) ||
  (element.getAttribute("title") ?? element.tagName);

const isShown = (element: Element): boolean =>
  element.closest("[hidden], [aria-hidden=true], [style*='display: none']") === null;

/** What lies uppermost: the last that was opened. */
function uppermost(): HTMLElement | null {
  return [...document.querySelectorAll<HTMLElement>(OPEN)].filter(isShown).at(-1) ?? null;
}

function titleOf(layer: HTMLElement | null): string {
  if (!layer) return "";
  const title = document.getElementById(layer.getAttribute("aria-labelledby") ?? "");
  // A menu has the name of its button, which may be a picture.
  return layer.getAttribute("aria-label") ?? title?.getAttribute("aria-label") ?? title?.textContent ?? "";
}

const CONTROLS = "button, [role=menuitem]";
/** Tabs are pages of their own, links lead away, a menu's link would load a file. */
const NOT_PRESSED = "[role=tab], a, .mantine-Modal-close, [disabled], [data-disabled], [aria-disabled=true]";

class Walk {
  /** By text: after what it was first seen. */
  readonly english = new Map<string, string>();
  readonly unanswered = new Set<string>();
  readonly crashed: string[] = [];
  private page!: Awaited<ReturnType<Tools["open"]>>;
  private presses = 0;
  private forms = 0;

  constructor(
    private readonly path: string,
    private readonly answers: Answers,
    private readonly known: Memory,
    private readonly tools: Tools,
  ) {}

  async open(): Promise<void> {
    cleanup();
    document.body.innerHTML = "";
    sessionStorage.clear();
    this.page = await this.tools.open(this.path, this.answers);
    await this.settle();
    this.look(this.path);
  }

  private async settle(): Promise<void> {
    for (let turn = 0; turn < 2; turn += 1) {
      await act(() => new Promise((done) => setTimeout(done, turn * 5)));
      await waitFor(() => {
        expect(this.page.client.isFetching() + this.page.client.isMutating()).toBe(0);
      });
    }
  }

  /** Notes what is wrong on the screen now. */
  private look(after: string): void {
    for (const text of this.tools.leaks()) if (!this.english.has(text)) this.english.set(text, after);
    for (const { method, url } of this.page.asked) {
      const name = `${method} ${url.split("?")[0]}`;
      if (method === "GET" && !(name in this.tools.standing || name in this.answers)) this.unanswered.add(name);
    }
    this.crashed.push(...this.page.crashes.splice(0).map((error) => `${String(error)} (${after})`));
  }

  private controls(layer: HTMLElement | null): HTMLElement[] {
    const root = layer ?? (this.path === "/" ? document.body : (document.querySelector("main") ?? document.body));
    return [...root.querySelectorAll<HTMLElement>(CONTROLS)].filter(
      (element) => !element.matches(NOT_PRESSED) && isShown(element) && !this.tools.closing.includes(nameOf(element)),
    );
  }

  private keyOf(layer: HTMLElement | null, element: HTMLElement): string {
    return `${titleOf(layer)} › ${nameOf(element)}`;
  }

  /** Pressed, and so is all that it opened, as far as is known. */
  private isDone(key: string, above: ReadonlySet<string> = new Set()): boolean {
    const times = this.known.pressed.get(key) ?? 0;
    if (times === 0) return false;
    const inside = this.known.inside.get(key) ?? new Set<string>();
    // A menu is opened again for each of its items, of which the first may be opened often.
    if (times >= OPENINGS_MAX * Math.max(1, inside.size) || above.has(key)) return true;
    const below = new Set([...above, key]);
    return [...inside].every((child) => this.isDone(child, below));
  }

  private async fill(layer: HTMLElement | null, fields = "input, textarea, select"): Promise<boolean> {
    const root = layer ?? document.querySelector<HTMLElement>("main");
    if (!root) return false;
    let changed = false;
    for (const field of root.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(fields)) {
      if (field.disabled || !isShown(field) || !field.isConnected) continue;
      changed = (await this.fillOne(layer, field)) || changed;
    }
    return changed;
  }

  private async fillOne(
    layer: HTMLElement | null,
    field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement,
  ): Promise<boolean> {
    const label = field.labels?.[0];
    const key = `${titleOf(layer)} › ${label?.textContent ?? field.getAttribute("aria-label") ?? field.name}`;
    if (field.getAttribute("aria-haspopup") === "listbox") return this.choose(key, field as HTMLInputElement);
    if (field instanceof HTMLInputElement && ["search", "hidden", "radio", "file"].includes(field.type)) return false;
    if (field instanceof HTMLInputElement && field.type === "checkbox") {
      if (field.checked || !this.mayChoose(key)) return false;
      fireEvent.click(field);
      return true;
    }
    if (field.value !== "") return false;
    const value = this.valueFor(field);
    if (value === undefined) return false;
    fireEvent.change(field, { target: { value } });
    return field.value !== "";
  }

  /** A dialog is filled in each time that it is opened, but what stays empty is not chosen for ever. */
  private mayChoose(key: string): boolean {
    const times = this.known.chosen.get(key) ?? 0;
    this.known.chosen.set(key, times + 1);
    return times < OPENINGS_MAX;
  }

  private valueFor(field: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement): string | undefined {
    if (field instanceof HTMLSelectElement)
      return [...field.options].map(({ value }) => value).find((value) => value !== "");
    const phrase = field.labels?.[0]?.querySelector(".ps-mono, .ps-code, code, strong")?.textContent;
    if (phrase) return phrase;
    if (field.type === "password") return "aaaaaaaaaaaa-1";
    if (field.type === "datetime-local") return "2026-12-01T10:00";
    if (field.type === "time") return "10:00";
    if (field.type === "number" || field.inputMode === "numeric" || field.inputMode === "decimal") return "3";
    if (field.type === "email") return "ada@example.org";
    if (field.type === "url") return "https://example.org";
    return "sales";
  }

  /** Opens a list of options, looks at it, and takes the first where nothing is chosen. */
  private async choose(key: string, field: HTMLInputElement): Promise<boolean> {
    const isEmpty = field.value === "" && !field.closest("[class*=PillsInput]")?.querySelector("[class*=Pill-root]");
    if (!isEmpty && this.known.chosen.has(key)) return false;
    if (!this.mayChoose(key)) return false;
    fireEvent.click(field);
    await this.settle();
    this.look(`options of ${key}`);
    const list = document.getElementById(field.getAttribute("aria-controls") ?? "");
    const option = isEmpty ? list?.querySelector<HTMLElement>("[role=option]:not([data-combobox-disabled])") : null;
    if (option) fireEvent.click(option);
    fireEvent.blur(field);
    await this.settle();
    return Boolean(option);
  }

  private async close(layer: HTMLElement): Promise<void> {
    fireEvent.keyDown(layer, { key: "Escape", code: "Escape" });
    await this.settle();
    if (uppermost() !== layer && !layer.isConnected) return;
    const buttons = [...layer.querySelectorAll<HTMLElement>("button")];
    const last = buttons.find((one) => one.matches(".mantine-Modal-close")) ?? buttons.at(-1);
    if (last) fireEvent.click(last);
    await this.settle();
    if (layer.isConnected && uppermost() === layer) await this.open();
  }

  /** The layers from the page up, by what opened them. */
  private readonly openers: { key: string; layer: HTMLElement }[] = [];

  private async press(layer: HTMLElement | null, control: HTMLElement): Promise<void> {
    const key = this.keyOf(layer, control);
    this.presses += 1;
    if (this.presses > PRESSES_MAX) throw new Error(`${this.path} does not come to rest: ${key}`);
    this.known.pressed.set(key, (this.known.pressed.get(key) ?? 0) + 1);
    fireEvent.click(control);
    await this.settle();
    this.look(key);
    const now = uppermost();
    if (now && now !== layer) {
      const place = this.openers.findIndex((one) => !one.layer.isConnected);
      if (place >= 0) this.openers.splice(place);
      this.openers.push({ key, layer: now });
    }
    if (this.hasLeft()) {
      this.openers.splice(0);
      await this.open();
    }
  }

  /** For another page, or another tab of this one. */
  private hasLeft(): boolean {
    const { pathname, search } = this.page.router.state.location;
    const own = new URL(this.path, "http://console");
    return pathname !== decodeURI(own.pathname) || (search.tab ?? null) !== own.searchParams.get("tab");
  }

  /** Notes what there is to press in a layer with what opened it. */
  private note(layer: HTMLElement | null, controls: HTMLElement[]): void {
    const opener = this.openers.findLast((one) => one.layer === layer)?.key;
    if (opener === undefined) return;
    const inside = this.known.inside.get(opener) ?? new Set<string>();
    for (const control of controls) inside.add(this.keyOf(layer, control));
    this.known.inside.set(opener, inside);
  }

  async run(): Promise<Walked> {
    await this.open();
    for (;;) {
      const layer = uppermost();
      if (layer) {
        await this.fill(layer);
        this.look(titleOf(layer));
      }
      const controls = this.controls(layer);
      this.note(layer, controls);
      const next = controls.find((one) => !this.isDone(this.keyOf(layer, one)));
      if (next) await this.press(layer, next);
      else if (layer) await this.close(layer);
      else if (!(await this.further())) break;
    }
    cleanup();
    return {
      english: [...this.english].map(([text, after]) => `${text} (${after})`).sort(),
      unanswered: [...this.unanswered].sort(),
      crashed: this.crashed,
    };
  }

  /** The page's own form, filled in: what sends it is pressed once more. First without longer texts, which are in a form of
   * their own (settings, certificates) and which most forms can do without. */
  private async further(): Promise<boolean> {
    this.forms += 1;
    if (this.forms > FORMS_MAX) return false;
    const before = new Set(this.controls(null).map((one) => this.keyOf(null, one)));
    const short = this.forms === 1 && (await this.fill(null, "input, select"));
    if (!short && !(await this.fill(null))) return false;
    this.look(`${this.path}, filled in`);
    for (const control of this.controls(null)) {
      const key = this.keyOf(null, control);
      if (control.matches("[type=submit]") || !before.has(key)) this.known.pressed.delete(key);
    }
    return true;
  }
}

export const walkDialogs = (path: string, answers: Answers, known: Memory, tools: Tools): Promise<Walked> =>
  new Walk(path, answers, known, tools).run();
