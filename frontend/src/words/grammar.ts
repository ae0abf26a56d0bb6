/** Numbers and plural forms, by the rules of one language. */

/** A language has the forms that its own rules name (`one`, `few`, `many`, …); `#` is the number. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Grammar {
  /** 1234 → "1,234"; whole numbers. */
  number: (value: number) => string;
  /** `count(2, { one: "# topic", other: "# topics" })` → "2 topics". */
  count: (value: number, forms: Forms) => string;
  /** The same with the fraction that was measured, twelve digits at most: "2,048.5 bytes". */
  exact: (value: number, forms: Forms) => string;
}

export function grammar(language: string): Grammar {
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  // Twelve digits after the point are more than any of our sources measures, and hide 0.1 + 0.2.
  const fractions = new Intl.NumberFormat(language, { maximumFractionDigits: 12 });
  const rules = new Intl.PluralRules(language);
  const number = (value: number) => numbers.format(value);
  const put = (value: number, forms: Forms, text: string) =>
    (forms[rules.select(value)] ?? forms.other).replaceAll("#", () => text);
  return {
    number,
    count: (value, forms) => put(value, forms, number(value)),
    exact: (value, forms) => put(value, forms, fractions.format(value)),
  };
}
