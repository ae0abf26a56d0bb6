/** Which settings belong together, in the order in which they are shown. */
import { words } from "@/words/topic-settings";

const say = words.configGroups;

interface SettingGroup {
  title: string;
  about: string;
  keys: readonly string[];
}

const GROUPS: readonly SettingGroup[] = [
  {
    title: say.retention,
    about: say.whatIsDeleted,
    keys: ["cleanup.policy", "retention.ms", "retention.bytes", "file.delete.delay.ms"],
  },
  {
    title: say.compaction,
    about: say.howTheLatestIsKept,
    keys: ["min.cleanable.dirty.ratio", "min.compaction.lag.ms", "max.compaction.lag.ms", "delete.retention.ms"],
  },
  {
    title: say.replication,
    about: say.whatAWriteSurvives,
    keys: [
      "min.insync.replicas",
      "unclean.leader.election.enable",
      "leader.replication.throttled.replicas",
      "follower.replication.throttled.replicas",
    ],
  },
  {
    title: say.messages,
    about: say.whatProducersMaySend,
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
    title: say.segmentsAndFlushing,
    about: say.filesOfALog,
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
    title: say.tieredStorage,
    about: say.segmentsKeptElsewhere,
    keys: [
      "remote.storage.enable",
      "remote.log.copy.disable",
      "remote.log.delete.on.disable",
      "local.retention.ms",
      "local.retention.bytes",
    ],
  },
];
const OTHERS = { title: say.others, about: say.settingsWithoutWords };
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
