import type { Rule } from "eslint";
export declare const noLiterals: Rule.RuleModule;
