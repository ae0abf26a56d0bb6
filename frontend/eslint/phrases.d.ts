import type { Rule } from "eslint";
export declare const isPhrase: (text: string) => boolean;
export declare const noPhrases: Rule.RuleModule;
