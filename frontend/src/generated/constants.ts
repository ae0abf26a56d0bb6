/** Made by `manage.py export_constants`; the service's own tables, not to be edited here. */
import type { components } from "./api";

type Schemas = components["schemas"];

export type Severity = "ok" | "unknown" | "recovering" | "warning" | "danger";

/** How a group does on a topic, from the best to the worst. */
export const LAG_STATUSES: readonly Schemas["LagPointStatusEnum"][] = ["CAUGHT_UP", "NO_COMMIT", "UNKNOWN", "CATCHING_UP", "NOT_COMMITTING", "LAGGING", "REWOUND", "FALLING_BEHIND", "STALLED", "STOPPED", "DATA_LOST"];

/** Of each status of a group. */
export const LAG_SEVERITY: Record<Schemas["LagPointStatusEnum"], Severity> = {"CAUGHT_UP": "ok", "NO_COMMIT": "unknown", "UNKNOWN": "unknown", "CATCHING_UP": "recovering", "NOT_COMMITTING": "warning", "LAGGING": "warning", "REWOUND": "warning", "FALLING_BEHIND": "warning", "STALLED": "danger", "STOPPED": "danger", "DATA_LOST": "danger"};

/** What retention does to a group's unread records, from the best to the worst. */
export const RISKS: readonly Schemas["GroupExpiryStatusEnum"][] = ["SAFE", "UNKNOWN", "WATCH", "AT_RISK", "LOSING"];

/** Of each risk. */
export const RISK_SEVERITY: Record<Schemas["GroupExpiryStatusEnum"], Severity> = {"SAFE": "ok", "UNKNOWN": "unknown", "WATCH": "warning", "AT_RISK": "danger", "LOSING": "danger"};

/** States from which an operation moves no more by itself. */
export const TERMINAL_STATES: readonly Schemas["OperationStateEnum"][] = ["succeeded", "failed", "cancelled", "reverted"];
