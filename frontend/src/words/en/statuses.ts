/** What states are called, and what each of them means in one sentence. */
export const statuses = {
  phase: {
    CREATING: { label: "Creating", hint: "Brokers are being placed and started." },
    RUNNING: { label: "Running", hint: "All brokers are registered and serving." },
    UPDATING: { label: "Updating", hint: "A change is being rolled out." },
    DEGRADED: { label: "Degraded", hint: "At least one broker is not serving." },
    DELETING: { label: "Deleting", hint: "Brokers and their data are being removed." },
    FAILED: { label: "Failed", hint: "The last change did not succeed." },
  },
  /** By Kafka's name in small letters; Kafka's own name is the label. */
  group: {
    stable: "Members are assigned and consuming.",
    empty: "No members; committed offsets are kept until they expire.",
    dead: "The group no longer exists on its coordinator.",
    preparingrebalance: "Members are joining.",
    completingrebalance: "Partitions are being assigned.",
    assigning: "Partitions are being assigned.",
    reconciling: "Members are taking over their new partitions.",
  },
  lag: {
    CAUGHT_UP: { label: "Caught up", hint: "Reads keep pace with writes." },
    CATCHING_UP: { label: "Catching up", hint: "Lag is above its norm and shrinking." },
    FALLING_BEHIND: { label: "Falling behind", hint: "Lag grows." },
    NOT_COMMITTING: {
      label: "Not committing",
      hint: "Members are present, but partitions that hold records have no commit.",
    },
    LAGGING: { label: "Lagging", hint: "Lag is above its norm and steady." },
    STALLED: { label: "Stalled", hint: "Members are present but the committed offset does not move." },
    STOPPED: { label: "Stopped", hint: "Nobody consumes while records arrive." },
    REWOUND: { label: "Rewound", hint: "The committed offset went back." },
    DATA_LOST: { label: "Data lost", hint: "Records expired before this group read them." },
    NO_COMMIT: { label: "No commit", hint: "The group has not committed an offset here." },
    UNKNOWN: { label: "Unknown", hint: "Too few samples to tell." },
    SAFE: { label: "Safe", hint: "Unread records are far from their expiry." },
    WATCH: { label: "Watch", hint: "Unread records approach their expiry." },
    AT_RISK: { label: "At risk", hint: "At its present pace the group loses unread records to retention." },
    LOSING: { label: "Losing data", hint: "Unread records have already expired." },
  },
  /** What is true beside a lag's status. */
  lagReason: {
    PARTIAL_COMMIT: {
      label: "some partitions not started",
      hint: "Some partitions have no commit; the state is that of the others.",
    },
    REWOUND: { label: "rewound", hint: "The committed offset went back." },
  },
  operation: {
    pending: "Pending",
    running: "Running",
    verifying: "Verifying",
    cancelling: "Cancelling",
    succeeded: "Verified",
    failed: "Failed",
    cancelled: "Cancelled",
    reverted: "Undone",
  },
} as const;
