/** Whether a request has found that the session is gone while somebody looks at a page. */
import { useSyncExternalStore } from "react";

let gone = false;
const listeners = new Set<() => void>();

export function setSignedOut(value: boolean): void {
  if (gone === value) return;
  gone = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useSignedOut = (): boolean => useSyncExternalStore(subscribe, () => gone);
