import { rich, type Slot } from "../rich";
import { count } from "./grammar";

export const rolls = {
  rollProgress: {
    pause: "Pause after this broker",
    resume: "Resume",
    paused: "Paused",
    pausedBy: (by: string, time: Slot) =>
      rich`By ${by}, ${time}. The next broker is not taken before somebody resumes it; after 24 hours the operation ends.`,
    theNextOneWaits: "The next broker is not taken yet",
    brokersOneAfterTheOther: "Brokers, one after the other",
    broker: "Broker",
    state: "State",
    awayFor: "Until in sync",
    gap: "Clients waited",
    gapMeans:
      "Clients waited: the longest time in which one partition acknowledged nothing to a producer with acks=all, from the restart on.",
    note: "Note",
    notMeasured: "not measured",
    noGap: "under 0.1 s",
    failed: (failed: number) => `, ${count(failed, { one: "# record failed", other: "# records failed" })}`,
    inPart: ", measured in part",
    states: {
      waiting: "waits for its turn",
      restarting: "is next",
      returning: "restarts",
      "catching-up": "catches up",
      electing: "gets its leaders back",
      observing: "is looked at, as the first",
      done: "done",
      failed: "failed",
      left: "was left as it is",
    },
  },
  configureDiff: {
    changes: "Settings of all brokers",
    setting: "Setting",
    before: "Before",
    after: "Afterwards",
    way: "How",
    notSet: "not set",
    notSetSo: (now: string) => `not set, so ${now}`,
    ways: {
      dynamic: "at once, while brokers run",
      static: "when each broker is restarted",
    },
  },
  versionDiff: {
    versions: "Version of each broker",
    broker: "Broker",
    from: "Before",
    to: "Afterwards",
    theSameEverywhere: "The same files on every host, SHA-256",
    protocolStays: (now: string) => `Brokers go on speaking ${now} to each other.`,
    comesLater: (newest: string) => `Not yet, but when the protocol is raised to ${newest}:`,
    protocol: "What brokers speak to each other",
    setting: "Setting",
    isNew: "What is new:",
    noWayBackTo: (names: string) => `Afterwards the brokers cannot go back to: ${names}.`,
  },
  addressDiff: {
    addresses: "Address of each broker",
    broker: "Broker",
    from: "Before",
    to: "Afterwards",
    certificate: "new certificate",
    clients: "Clients that begin anew",
  },
  zookeeperDiff: {
    title: "ZooKeeper",
    ensemble: "Ensemble",
    stays: "stays the same: the service and the agents of all hosts have found it behind the new connect string",
    strings: "Connect strings of the brokers",
    become: (before: number) =>
      before === 1
        ? "another one"
        : `${count(before, { one: "# connect string becomes", other: "# connect strings become" })} one`,
  },
  rollDiff: {
    orderOfTheRoll: "Order of the restart",
    turn: "Turn",
    broker: "Broker",
    host: "Host",
    leads: "Leads",
    replicas: "Replicas",
    controller: " controller",
    notUp: " not up",
    whoeverIsController: "Whoever is the controller then is taken last.",
    canary: (time: Slot) =>
      rich`After the first one the operation looks for ${time} whether anything got worse, and stops if it did.`,
    noCanary: "The second one follows as soon as the first one is in sync.",
  },
} as const;
