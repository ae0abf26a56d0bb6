/** A stream of server-sent events that a test opens, feeds and breaks. */
import { vi } from "vitest";

type Listener = (event: MessageEvent<string>) => void;

export class FakeEventSource {
  static readonly CLOSED = 2;
  static opened: FakeEventSource[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly listeners = new Map<string, Listener>();

  constructor(readonly url: string) {
    FakeEventSource.opened.push(this);
  }

  addEventListener(name: string, listener: Listener): void {
    this.listeners.set(name, listener);
  }

  close(): void {
    this.readyState = FakeEventSource.CLOSED;
  }

  connect(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  send(name: string, data: unknown): void {
    this.listeners.get(name)?.(new MessageEvent(name, { data: JSON.stringify(data) }));
  }

  /** The browser gave up (`closed`), or tries again by itself. */
  fail(closed: boolean): void {
    this.readyState = closed ? FakeEventSource.CLOSED : 0;
    this.onerror?.();
  }
}

/** Takes the place of the browser's; the streams opened since then, by address. */
export function fakeEvents(): (url: string) => FakeEventSource {
  FakeEventSource.opened = [];
  vi.stubGlobal("EventSource", FakeEventSource);
  return (url) => {
    const found = FakeEventSource.opened.findLast((one) => one.url === url);
    if (!found) throw new Error(`no stream was opened at ${url}`);
    return found;
  };
}
