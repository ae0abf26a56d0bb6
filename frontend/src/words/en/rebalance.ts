import { rich, type Slot } from "../rich";

export const rebalance = {
  card: {
    title: "Scheduled rebalance",
    off: "Off",
    on: "On",
    offText: "Partitions move only when somebody plans it.",
    onText: (percent: number, limit: Slot) =>
      rich`When a broker is more than ${percent} % from the mean by bytes or by preferred leaders, partitions are moved at ${limit} per broker at most.`,
    change: "Change the schedule",
    anyTime: "One may begin at any time.",
    windowOpen: "Maintenance window: open now. What has begun goes on after its end.",
    windowOpens: (time: Slot) =>
      rich`Maintenance window: closed; the next one opens ${time}. What has begun goes on after its end.`,
    lastLook: (time: Slot) => rich`As of ${time}`,
    noLook: "Nobody has looked yet.",
    figures: (bytes: Slot, leaders: Slot, time: Slot) =>
      rich`Furthest from the mean: ${bytes} by bytes, ${leaders} by preferred leaders (${time}).`,
    unknown: "not known",
    runs: "Scheduled rebalances",
    noRuns: "None has begun yet",
    noRunsText: "Each one stands here, with why it began, what it came to, and how far from the mean brokers were.",
    state: "State",
    why: "Why",
    bytes: "By bytes",
    leaders: "By leaders",
    began: "Began",
    operation: "Operation",
    fromTo: (before: Slot, after: Slot) => rich`${before} → ${after}`,
    states: { running: "under way", succeeded: "succeeded", failed: "failed", cancelled: "cancelled" },
  },
  form: {
    title: "Scheduled rebalance",
    save: "Save",
    saved: "The schedule is set.",
    enabled: "Rebalance this cluster by itself",
    threshold: "Above, % from the mean",
    limit: "At most, MiB/s per broker",
    windowsText: "One begins only inside of them, and goes on after their end. Without any: at any time.",
  },
} as const;
