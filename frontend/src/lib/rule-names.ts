/** Alert rules and runbooks as people call them; ids stay in addresses, requests and hover texts. */
import { words } from "@/words/names";
import type { AlertRuleId, HostAlertRuleId } from "./types";

type RuleId = AlertRuleId | HostAlertRuleId;
const RULES: Record<RuleId, string> = words.rules;
const RUNBOOKS: Record<string, string> = words.runbooks;

/** Rules about hosts, which are the operators'. */
export const HOST_RULES: readonly string[] = Object.keys(RULES).filter((id) => id.startsWith("host-"));

export const isRule = (id: string): id is RuleId => id in RULES;

/** An id that a newer service knows and this console does not stands for itself. */
export const ruleTitle = (id: string): string => (isRule(id) ? RULES[id] : id);
export const runbookTitle = (id: string): string => RUNBOOKS[id] ?? id;

/** Alerts that lead to a runbook: rules by their titles, what Prometheus calls its own alerts by that. */
export const alertTitles = (names: readonly string[]): string => names.map(ruleTitle).join(", ");
