import { count } from "./grammar";

export const scaling = {
  scaleBrokers: {
    addBrokers: "Add brokers",
    howMany: "How many more brokers",
    placesAreChosen: "Hosts are chosen by rack, room and load; the plan shows where each broker goes and why.",
    showThePlan: "Show the plan",
    removeBroker: "Remove broker",
    removeBroker2: (broker: string | number) => `Remove broker ${broker}`,
  },
  addDiff: {
    newBrokers: "New brokers",
    broker: "Broker",
    rack: "Rack",
    address: "Address",
    why: "Why there",
    fromTo: (before: number, after: number) =>
      `The cluster has ${count(before, { one: "# broker", other: "# brokers" })} now and ${after} afterwards.`,
    settingsKept: "Defaults that are written down, so that they stay as they are",
    setting: "Setting",
    value: "Value",
  },
  removeDiff: {
    brokersThatGo: "Brokers that go, in this order",
    turn: "Turn",
    broker: "Broker",
    rack: "Rack",
    address: "Address",
    controller: " controller",
    notUp: " not up",
    fromTo: (before: number, after: number) =>
      `The cluster has ${count(before, { one: "# broker", other: "# brokers" })} now and ${after} afterwards. Whoever is the controller then is stopped last.`,
  },
  nextPlan: {
    next: (kind: string) => `Next: ${kind}`,
    first: (kind: string) => `First: ${kind}`,
    inTheWay: "In the way",
    andMore: (more: number) => `and ${count(more, { one: "# more", other: "# more" })}`,
  },
} as const;
