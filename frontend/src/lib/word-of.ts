/** The word for an id of the service; one that a newer service sends is shown as it is written. */
export const wordOf = (table: Readonly<Record<string, string>>, id: string): string =>
  (Object.hasOwn(table, id) && table[id]) || id;
