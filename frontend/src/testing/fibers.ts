/** What React knows of an element on the page: which component drew it, with which properties. */
export interface Fiber {
  type: unknown;
  memoizedProps: Record<string, unknown> | null;
  return: Fiber | null;
}

export function fiberOf(element: Element): Fiber | undefined {
  const key = Object.keys(element).find((name) => name.startsWith("__reactFiber$"));
  return key === undefined ? undefined : (element as unknown as Record<string, Fiber>)[key];
}

/** The component's name in the code; nothing for an element of the page. */
export function nameOf(fiber: Fiber | null | undefined): string | undefined {
  return typeof fiber?.type === "function" ? fiber.type.name : undefined;
}
