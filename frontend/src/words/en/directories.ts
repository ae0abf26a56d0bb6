import { rich, type Slot } from "../rich";
import { count, number } from "./grammar";

/** Where brokers have their logs: the broker's tab, and the plans that add and empty a directory. */
export const directories = {
  tab: {
    directories: "Directories",
    directory: "Directory",
    state: "State",
    free: "Free",
    of: (free: Slot, total: Slot) => rich`${free} of ${total}`,
    notSaid: "not said",
    replicas: "Replicas",
    arriving: (replicas: number) => `${number(replicas)} arriving`,
    size: "Size",
    working: "works",
    failed: "failed",
    failedHint: "The broker cannot read or write it: what lies there is not served by this broker.",
    actions: "Actions",
    empty: "Empty it",
    takeAway: "Empty and take away",
    giveUp: "Take away",
    of1: (action: string, directory: string) => `${action}: ${directory}`,
    aDirectoryFailed: "A directory has failed",
    wayOut: (replicas: number) =>
      `${count(replicas, { one: "# replica", other: "# replicas" })} of this broker cannot be used (KAFKA_STORAGE_ERROR). Take the directory away: the broker is restarted without it and reads them anew from the others. Once the disk was replaced, add it again.`,
    onlyHere: (partitions: number) =>
      `Of ${count(partitions, { one: "# partition", other: "# partitions" })} nobody else has a replica in sync: bring the disk back as it was and restart the broker, or their records are gone.`,
    askWhoRunsIt: "Its host is not run by this service: whoever runs it has to look at the disk.",
    further: "On its host, not used by this broker",
    add: "Add to this broker",
    noFurther: "Its host has no other directory. Operators add disks to hosts.",
    furtherUnknown: (reason: string) => `Which other directories its host has is not known: ${reason}`,
    planFor: (kind: string, directory: string, broker: string) => `${kind}: ${directory}, broker ${broker}`,
  },
  diff: {
    directories: "Directories of each broker",
    broker: "Broker",
    before: "Before",
    after: "After",
    free: "Free in the new one",
    leaving: "Leaves",
    goes: "Goes to",
    notKnown: "not known",
    replicas: (replicas: number) => count(replicas, { one: "# replica", other: "# replicas" }),
    madeAnew: "made anew from other replicas: the directory has failed",
    nothing: "nothing lies there",
    into: (directory: string, replicas: number) =>
      `${directory}: ${count(replicas, { one: "# replica", other: "# replicas" })}`,
    limit: (rate: Slot) => rich`Each broker copies at most ${rate}/s.`,
    noLimit: "Each broker copies as fast as it can.",
  },
  host: {
    directories: "Data directories",
    name: "Name",
    free: "Free",
    state: "State",
    usable: "usable",
    shared: "shares its disk with another one",
    newBrokers: "new brokers begin here",
  },
};
