/** Where the focus was before a dialog or a menu took it, and how it gets back there. */

const TRANSIENT = "[role=dialog], [role=menu], [role=listbox], [data-mantine-shared-portal-node]";
let last: HTMLElement | null = null;

const isOutside = (element: Element): boolean => element.closest(TRANSIENT) === null;

function remember(event: FocusEvent): void {
  if (event.target instanceof HTMLElement && isOutside(event.target)) last = event.target;
}

/** Notes what has the focus from now on; returns how to stop. */
export function watchFocus(): () => void {
  document.addEventListener("focusin", remember);
  return () => {
    document.removeEventListener("focusin", remember);
    last = null;
  };
}

const FIRST = "input:not([type=hidden]), select, textarea, button, a[href]";

/** Brings the focus back into a dialog that is open whenever the page behind takes it; returns how to stop. */
export function holdFocus(dialog: HTMLElement): () => void {
  const hold = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || !isOutside(target)) return;
    const first = dialog.querySelector<HTMLElement>("[data-autofocus]") ?? dialog.querySelector<HTMLElement>(FIRST);
    first?.focus({ preventScroll: true });
  };
  document.addEventListener("focusin", hold);
  return () => document.removeEventListener("focusin", hold);
}

/**
 * Gives the focus back once a dialog has closed: to what had it on the page, or to the page's heading where that is
 * gone. Whatever has the focus already keeps it.
 */
export function restoreFocus(): void {
  const active = document.activeElement;
  if (active instanceof HTMLElement && active !== document.body && active.isConnected && isOutside(active)) return;
  if (document.querySelector("[role=dialog]") !== null) return;
  const target = last?.isConnected ? last : document.querySelector<HTMLElement>("#main h1");
  if (!target) return;
  if (!last?.isConnected) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
