/** Numbers and plural forms, by the rules of one language. */

/** A language has the forms that its own rules name (`one`, `few`, `many`, …); `#` is the number. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Grammar {
  /** 1234 → "1,234"; whole numbers. */
  number: (value: number) => string;
  /** `count(2, { one: "# topic", other: "# topics" })` → "2 topics". */
  count: (value: number, forms: Forms) => string;
}

export function grammar(language: string): Grammar {
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const rules = new Intl.PluralRules(language);
  const number = (value: number) => numbers.format(value);
  return {
    number,
    count: (value, forms) => (forms[rules.select(value)] ?? forms.other).replaceAll("#", () => number(value)),
  };
}
