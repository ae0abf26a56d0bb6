/** Questions of many rows, asked together: what is asked for within a moment goes in one request. */

type Waiting<Answer> = { settle: (answer: Answer | undefined) => void; fail: (error: unknown) => void };

export type Batched<Answer> = (key: string) => Promise<Answer | undefined>;

/**
 * `load(key)` answers what `ask` says of it, or undefined where it says nothing. At most `most` keys go in one request;
 * a key that is awaited twice is asked for once.
 */
export function batched<Answer>(
  ask: (keys: string[]) => Promise<ReadonlyMap<string, Answer>>,
  { most, waitMs }: { most: number; waitMs: number },
): Batched<Answer> {
  let waiting = new Map<string, Waiting<Answer>[]>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  const send = async (asked: Map<string, Waiting<Answer>[]>) => {
    try {
      const found = await ask([...asked.keys()]);
      asked.forEach((all, key) => all.forEach((one) => one.settle(found.get(key))));
    } catch (error) {
      asked.forEach((all) => all.forEach((one) => one.fail(error)));
    }
  };
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const asked = waiting;
    waiting = new Map();
    if (asked.size > 0) void send(asked);
  };
  return (key) =>
    new Promise((settle, fail) => {
      waiting.set(key, [...(waiting.get(key) ?? []), { settle, fail }]);
      if (waiting.size >= most) flush();
      else timer ??= setTimeout(flush, waitMs);
    });
}
