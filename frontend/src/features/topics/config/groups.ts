/** Which settings belong together, in the order in which they are shown. */

interface SettingGroup {
  title: string;
  about: string;
  keys: readonly string[];
}

const GROUPS: readonly SettingGroup[] = [
  {
    title: "Retention",
    about: "What is deleted, and when.",
    keys: ["cleanup.policy", "retention.ms", "retention.bytes", "file.delete.delay.ms"],
  },
  {
    title: "Compaction",
    about: "How the latest record of each key is kept; only with cleanup.policy compact.",
    keys: ["min.cleanable.dirty.ratio", "min.compaction.lag.ms", "max.compaction.lag.ms", "delete.retention.ms"],
  },
  {
    title: "Replication",
    about: "What an acknowledged write survives.",
    keys: [
      "min.insync.replicas",
      "unclean.leader.election.enable",
      "leader.replication.throttled.replicas",
      "follower.replication.throttled.replicas",
    ],
  },
  {
    title: "Messages",
    about: "What producers may send, and how it is kept.",
    keys: [
      "max.message.bytes",
      "compression.type",
      "compression.gzip.level",
      "compression.lz4.level",
      "compression.zstd.level",
      "message.timestamp.type",
      "message.timestamp.before.max.ms",
      "message.timestamp.after.max.ms",
      "message.timestamp.difference.max.ms",
      "message.downconversion.enable",
      "message.format.version",
    ],
  },
  {
    title: "Segments and flushing",
    about: "The files of a partition's log.",
    keys: [
      "segment.bytes",
      "segment.ms",
      "segment.jitter.ms",
      "segment.index.bytes",
      "index.interval.bytes",
      "preallocate",
      "flush.messages",
      "flush.ms",
    ],
  },
  {
    title: "Tiered storage",
    about: "Old segments kept elsewhere, where the brokers can.",
    keys: [
      "remote.storage.enable",
      "remote.log.copy.disable",
      "remote.log.delete.on.disable",
      "local.retention.ms",
      "local.retention.bytes",
    ],
  },
];
const OTHERS = { title: "Others", about: "Settings of these brokers that the console has no words for." };
const PLACE = new Map(GROUPS.flatMap((group) => group.keys.map((key, index) => [key, { group, index }] as const)));

/** The entries by group, each group's in its own order; none is left out, and no group is empty. */
export function grouped<Entry extends { name: string }>(
  entries: readonly Entry[],
): { title: string; about: string; entries: Entry[] }[] {
  const known = GROUPS.map((group) => ({
    title: group.title,
    about: group.about,
    entries: entries
      .filter((entry) => PLACE.get(entry.name)?.group === group)
      .sort((left, right) => (PLACE.get(left.name)?.index ?? 0) - (PLACE.get(right.name)?.index ?? 0)),
  }));
  const others = entries.filter((entry) => !PLACE.has(entry.name)).sort((a, b) => a.name.localeCompare(b.name));
  return [...known, { ...OTHERS, entries: others }].filter((group) => group.entries.length > 0);
}
