/** What the OpenAPI document says of an address: what fills its blanks, what it takes, what it answers. */
import type { paths } from "@/generated/api";

type Verb = "get" | "post" | "put" | "delete";
/** Verbs that send a body. */
type Writing = "post" | "put";
type Content<R> = R extends { content: { "application/json": infer Body } } ? Body : never;

/** The addresses that are read, or written to: `/api/v1/operations/{operation_id}`. */
export type AddressOf<V extends Verb> = {
  [A in keyof paths]: paths[A][V] extends { responses: unknown } ? A : never;
}[keyof paths];

/** What fills the blanks of an address. */
export type BlanksOf<V extends Verb, A extends AddressOf<V>> = paths[A][V] extends {
  parameters: { path: infer Blanks };
}
  ? Blanks
  : Record<never, never>;

/** What may follow the question mark. */
export type QueryOf<A extends AddressOf<"get">> = paths[A]["get"] extends { parameters: { query?: infer Query } }
  ? Exclude<Query, undefined>
  : never;

/** What a POST, or another write, takes; `undefined` where it takes nothing. */
export type BodyOf<A extends AddressOf<V>, V extends Writing = "post"> = paths[A][V] extends {
  requestBody?: infer Taken;
}
  ? [Exclude<Taken, undefined>] extends [never]
    ? undefined
    : Content<Exclude<Taken, undefined>>
  : undefined;

/** What the server answers when it does what is asked. */
export type AnswerOf<V extends Verb, A extends AddressOf<V>> = paths[A][V] extends { responses: infer Answers }
  ? Content<Answers[keyof Answers & (200 | 201 | 202)]>
  : never;

/** What follows an address: nothing for what is not given, a list's name once for each. */
export function asked(query: unknown): string {
  const given = Object.entries((query ?? {}) as Record<string, unknown>).filter(([, value]) => value !== undefined);
  const pairs = given.flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).map((one) => [name, String(one)]),
  );
  const text = new URLSearchParams(pairs).toString();
  return text && `?${text}`;
}

/** An address with its blanks filled: names of topics and groups may hold any character. */
export function filled(address: string, blanks: unknown = {}): string {
  const values = blanks as Record<string, string>;
  return address.replace(/{(\w+)}/g, (_, blank: string) => encodeURIComponent(values[blank] ?? ""));
}
