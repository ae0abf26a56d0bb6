import js from "@eslint/js";
import globals from "globals";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import ts from "typescript-eslint";
import { noLiterals } from "./eslint/literals.js";
import { noPhrases } from "./eslint/phrases.js";
import noLanguage from "./eslint/no-language.json" with { type: "json" };
import literalsToDo from "./eslint/literals-to-do.json" with { type: "json" };

const words = { rules: { "no-literals": noLiterals, "no-phrases": noPhrases } };

// Imports point one way: lib ◄ components ◄ features ◄ app; no feature imports another.
const zone = (files, patterns) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns }] },
});
const features = [
  "access",
  "alerts",
  "analytics",
  "audit",
  "clusters",
  "destinations",
  "groups",
  "insights",
  "operations",
  "reassignments",
  "runbooks",
  "session",
  "topics",
];

export default ts.config(
  { ignores: ["dist", "node_modules", "src/generated"] },
  js.configs.recommended,
  ...ts.configs.strict,
  reactHooks.configs.flat["recommended-latest"],
  jsxA11y.flatConfigs.recommended,
  {
    languageOptions: { globals: globals.browser },
    rules: {
      "@typescript-eslint/consistent-type-imports": "error",
      eqeqeq: ["error", "always"],
      "max-lines": ["error", 400],
      // TanStack Table returns unstable functions on purpose; we do not use the React compiler.
      "react-hooks/incompatible-library": "off",
      // A search box inside a dialog that the user just opened may take the focus.
      "jsx-a11y/no-autofocus": "off",
    },
  },
  // What somebody sees comes from the catalogue. `literals-to-do.json` names the files that are still to be moved there;
  // src/words/literals.test.ts lets the list only get shorter.
  {
    files: ["src/**/*.tsx"],
    ignores: ["src/testing/**", "src/**/*.test.tsx", ...literalsToDo],
    plugins: { words },
    rules: { "words/no-literals": "error" },
  },
  // Nor do modules put phrases together by themselves. `no-language.json` names what is no language, by its reason.
  {
    files: ["src/**/*.ts", "src/**/*.tsx"],
    ignores: ["src/testing/**", "src/words/**", "src/**/*.test.ts", "src/**/*.test.tsx"],
    plugins: { words },
    rules: { "words/no-phrases": ["error", { allowed: Object.values(noLanguage).flat() }] },
  },
  // Words are about everything and know nothing.
  zone(["src/words/**"], ["@/lib/*", "@/components/*", "@/features/*", "@/app/*"]),
  zone(["src/lib/**"], ["@/components/*", "@/features/*", "@/app/*"]),
  zone(["src/components/**"], ["@/features/*", "@/app/*"]),
  ...features.map((name) =>
    zone(
      [`src/features/${name}/**`],
      ["@/app/*", ...features.filter((other) => other !== name).map((other) => `@/features/${other}/*`)],
    ),
  ),
);
