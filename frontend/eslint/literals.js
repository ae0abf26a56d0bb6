/** Refuses text that somebody sees but that is not in the catalogue (`src/words`): in JSX, in properties such as `title`
 * and `aria-label`, and in the same properties of objects (columns, figures, options). */

const SEEN = new Set(
  (
    "title label placeholder aria-label aria-description description sub submit empty fallback note hint alt partial " +
    "error caption legend summary header text message nothingFoundMessage"
  ).split(" "),
);
/** Properties of objects that are as often a key of a table ("empty": a state of a group). */
const KEYS = new Set(["empty", "error"]);

const LETTER = /\p{L}/u;
/** Names, not words: `cleanup.policy`, `user:ada`, `/api/v1`, `#5a6673`, our own. */
const NAME = /^(?:Penstock|[a-z0-9]+(?:[._:/][a-z0-9]+)+|\/\S*|#[0-9a-f]+)$/;

const isText = (text) => LETTER.test(text) && !NAME.test(text.trim());

/** The strings that an expression comes out as, without what it is worked out of. */
function* texts(node) {
  switch (node?.type) {
    case "Literal":
      if (typeof node.value === "string") yield [node, node.value];
      break;
    case "TemplateLiteral":
      yield [node, node.quasis.map((part) => part.value.cooked).join("…")];
      for (const part of node.expressions) yield* texts(part);
      break;
    case "ConditionalExpression":
      yield* texts(node.consequent);
      yield* texts(node.alternate);
      break;
    case "LogicalExpression":
      if (node.operator !== "&&") yield* texts(node.left);
      yield* texts(node.right);
      break;
    case "BinaryExpression":
      if (node.operator !== "+") break;
      yield* texts(node.left);
      yield* texts(node.right);
      break;
    case "ArrowFunctionExpression":
      if (node.body.type !== "BlockStatement") yield* texts(node.body);
      break;
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      yield* texts(node.expression);
      break;
    case "JSXExpressionContainer":
      yield* texts(node.expression);
      break;
  }
}

const seenIn = (key) => SEEN.has(nameOf(key)) && !KEYS.has(nameOf(key));
const nameOf = (key) => (key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "");

export const noLiterals = {
  meta: {
    type: "problem",
    schema: [],
    messages: { literal: "“{{text}}” is shown: put it into src/words (frontend/README.md, Words)." },
  },
  create(context) {
    const check = (value) => {
      for (const [node, text] of texts(value))
        if (isText(text)) context.report({ node, messageId: "literal", data: { text: text.trim().slice(0, 40) } });
    };
    return {
      JSXText(node) {
        if (isText(node.value))
          context.report({ node, messageId: "literal", data: { text: node.value.trim().slice(0, 40) } });
      },
      JSXAttribute(node) {
        if (node.name.type === "JSXIdentifier" && SEEN.has(node.name.name)) check(node.value);
      },
      "JSXElement > JSXExpressionContainer": (node) => check(node),
      "JSXFragment > JSXExpressionContainer": (node) => check(node),
      Property(node) {
        if (node.parent.type === "ObjectExpression" && seenIn(node.key)) check(node.value);
      },
    };
  },
};
