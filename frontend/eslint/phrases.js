/** Refuses phrases that modules put together outside the catalogue (`src/words`): what is no component has no business
 * with language. What is a name and no language is told by its form, or stands in `no-language.json` with its reason. */

/** Two words of which one has two letters or more; what is worked out counts as a word. */
const TWO_WORDS = /(?:\p{L}{2,}[,:;.]?\s+[“"(]?[\p{L}…])|(?:[\p{L}…][)”"]?[,:;.]?\s+\p{L}{2,})/u;
/** "Address": one word as it begins a title. */
const TITLE = /^\p{Lu}\p{Ll}{2,}$/u;

/** By form: what is a name of something, and the same in every language. */
const NAMES = [
  /^…?\s?(?:ms|s|B|[KMGTP]iB|GiB·h|%)(?:\/s)?$/, // units by SI and IEC
  /^[A-Z][a-z]+(?:-[A-Z][a-z]+)+$/, // headers: Content-Type
  /^(?:GET|POST|PUT|PATCH|DELETE) \S+$/,
  /^[a-z-]+\/[a-z0-9.+-]+(?:, ?[a-z-]+\/[a-z0-9.+-]+)*$/, // media types
  /^(?:[\d.]+(?:px|rem|em|%)?|0|auto|solid|dashed|var\([\w-]+\))(?:\s(?:[\d.]+(?:px|rem|em|%)?|0|auto|solid|dashed|var\([\w-]+\)))+$/, // CSS
];
/** What is called with text that nobody reads: selectors, keys, the name of a chunk's component. */
const NOT_READ = new Set([
  "querySelector",
  "querySelectorAll",
  "closest",
  "matches",
  "lazyRouteComponent",
  "getByRole",
]);
/** Attributes and properties that are no text. */
const NO_TEXT = new Set([
  "style",
  "styles",
  "className",
  "border",
  "padding",
  "margin",
  "gridTemplateColumns",
  "key",
  "rel",
  "fontFamily",
]);

export const isPhrase = (text) => {
  const trimmed = text.trim();
  return (TWO_WORDS.test(trimmed) || TITLE.test(trimmed)) && !NAMES.some((name) => name.test(trimmed));
};

const nameOf = (key) =>
  key?.type === "Identifier" || key?.type === "JSXIdentifier" ? key.name : String(key?.value ?? "");
const called = (callee) => (callee.type === "MemberExpression" ? nameOf(callee.property) : nameOf(callee));

/** Whether `node` stands where nobody reads it. */
function isUnread(node) {
  for (let at = node, parent = node.parent; parent; at = parent, parent = parent.parent) {
    if (/^(?:Import|Export(?:All|Named))/.test(parent.type) || parent.type.startsWith("TSLiteral")) return true;
    if (parent.type === "BinaryExpression" && /^[!=]==?$/.test(parent.operator)) return true;
    if (parent.type === "SwitchCase" && parent.test === at) return true;
    if ((parent.type === "CallExpression" || parent.type === "NewExpression") && parent.arguments.includes(at))
      return NOT_READ.has(called(parent.callee));
    if (parent.type === "JSXAttribute") return NO_TEXT.has(nameOf(parent.name));
    if (parent.type === "Property" && (parent.key === at || NO_TEXT.has(nameOf(parent.key)))) return true;
    if (/(?:Function|Statement|Declaration)/.test(parent.type)) return false;
  }
  return false;
}

export const noPhrases = {
  meta: {
    type: "problem",
    schema: [{ type: "object", properties: { allowed: { type: "array", items: { type: "string" } } } }],
    messages: { phrase: "“{{text}}” is language: put it into src/words (frontend/README.md, Words)." },
  },
  create(context) {
    const allowed = new Set(context.options[0]?.allowed ?? []);
    const check = (node, text) => {
      if (isPhrase(text) && !allowed.has(text.trim()) && !isUnread(node))
        context.report({ node, messageId: "phrase", data: { text: text.trim().slice(0, 60) } });
    };
    return {
      Literal: (node) => typeof node.value === "string" && check(node, node.value),
      TemplateLiteral: (node) => check(node, node.quasis.map((part) => part.value.cooked).join("…")),
    };
  },
};
