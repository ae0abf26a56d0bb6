/** Which colour of a palette a series has: by its name, so that it keeps it whatever is drawn beside it. */

/** FNV-1a; the same name is the same number everywhere and always. */
function hash(name: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    value ^= name.charCodeAt(at);
    value = Math.imul(value, 0x01000193);
  }
  return value >>> 0;
}

/**
 * Places in a palette of `size`, in the order of `names`. Two names that fall on one place take the next free one, in
 * the order of the alphabet and not in that of the day's ranking; colours come twice only where there are more series.
 */
export function colorsOf(names: readonly string[], size: number): number[] {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  for (const name of [...new Set(names)].sort()) {
    if (taken.size === size) taken.clear();
    let place = hash(name) % size;
    while (taken.has(place)) place = (place + 1) % size;
    taken.add(place);
    places.set(name, place);
  }
  return names.map((name) => places.get(name) ?? 0);
}
