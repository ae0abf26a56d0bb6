import { rich, type Slot } from "../rich";
import { count, exact, number } from "./grammar";

export const parts = {
  alertBadge: {
    severities: { critical: "critical", warning: "warning", info: "info" },
    whichAlertsFireCouldNot: "Which alerts fire could not be read.",
    alertsNotKnown: "alerts not known",
    fire: (amount: number, severity: string) =>
      `${count(amount, { one: "# alert fires", other: "# alerts fire" })}, the worst is ${severity}`,
    atLeastFire: (amount: number, severity: string) =>
      `at least ${count(amount, { one: "# alert fires", other: "# alerts fire" })}, the worst is ${severity}`,
    notReadLately: (text: string) => `${text}; not read lately`,
  },
  runStatus: {
    queued: "queued",
    running: "running",
    succeeded: "succeeded",
    failed: "failed",
    cancelled: "cancelled",
  },
  alertMarks: {
    critical: "Critical",
    dataOrServiceIsBeing: "Data or service is being lost, or will be soon.",
    warning: "Warning",
    itWillDoHarmWhen: "It becomes harmful unless it is handled.",
    info: "Info",
    nothingHasToBeDone: "Nothing has to be done now.",
    firing: "Firing",
    acknowledged: "Acknowledged",
    resolved: "Resolved",
    itCouldNotBeAsked: "It could not be asked now. It stays as it was last known, and does not resolve by itself.",
    notKnownNow: "not known now",
    itHoldsNoMoreBut: "It holds no more, but not yet for long enough to be resolved.",
    clearing: "clearing",
    noNotificationsAreSentWhile: "No notifications are sent while the silence lasts.",
    silenced: "silenced",
  },
  amount: {
    notKnown: "not known",
  },
  asOf: {
    staleAsOf: (time: Slot) => rich`stale: as of ${time}`,
    asOf: (time: Slot) => rich`as of ${time}`,
  },
  brokerLink: {
    broker: (id: number | string) => `Broker ${id}`,
    brokerWithin: (id: number | string) => `broker ${id}`,
  },
  copy: {
    copy: "Copy",
    copied: "Copied",
    copy2: (label: string) => `Copy ${label}`,
  },
  dataTable: {
    ofWord: (pageIndex: number, matched: number, matched2: number) =>
      `${number(pageIndex)}–${number(matched)} of ${number(matched2)}`,
  },
  pageHeader: {
    seen: (given: Slot, time: Slot) => rich`${given}seen ${time}`,
  },
  problemPanel: {
    tryAgain: "Try again",
    copied: "· copied",
    request: (requestId: Slot, given: Slot) => rich`request ${requestId} ${given}`,
  },
  quantity: {
    bytes: (amount: number) => exact(amount, { one: "# byte", other: "# bytes" }),
    bytesPerS: (amount: number) => exact(amount, { one: "# byte/s", other: "# bytes/s" }),
    records: (amount: number) => exact(amount, { one: "# record", other: "# records" }),
    recordsPerS: (amount: number) => exact(amount, { one: "# record/s", other: "# records/s" }),
    anUnknownTime: "an unknown time",
    forEver: "for ever",
    retentionMs: (ms: number) => `retention.ms ${ms}`,
    target: (span: Slot, share: Slot) => rich`at most ${span} behind for ${share} of the time`,
  },
  searchBox: {
    clearSearch: "Clear search",
  },
  stats: {
    loading: "Loading",
  },
} as const;
