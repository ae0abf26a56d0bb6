import { count } from "./grammar";

export const events = {
  deploymentForm: {
    theDeploymentIsMarked: "The deployment is marked.",
    markADeployment: "Mark a deployment",
    markIt: "Mark it",
    whatWasDeployed: "What was deployed",
    billing241: "billing 2.4.1",
    about: "About",
    theWholeCluster: "the whole cluster",
    aTopic: "a topic",
    aConsumerGroup: "a consumer group",
    topic: "Topic",
    consumerGroup: "Consumer group",
    aPipelineDoesTheSame: "A pipeline does the same with an API key: POST /api/v1/deployments.",
  },
  eventsPage: {
    brokersAndController: "Brokers and controller",
    leadersAndInSyncReplicas: "Leaders and in-sync replicas",
    topicsAndConfiguration: "Topics and configuration",
    operations: "Operations",
    alerts: "Alerts",
    deployments: "Deployments",
    sortOfEvents: "Sort of events",
    everySortOfEvent: "Every sort of event",
    howFarBack: "How far back",
    topicGroupOrBroker: "topic/…, group/… or broker/…",
    shownAsItWasIt: "Shown as it was: it could not be read again.",
    eventsOf: (name: string) => `Events of ${name}`,
    events: "Events",
    whatHappenedBrokersLeadersIn:
      "What happened: brokers, leaders, in-sync replicas, topics, operations, alerts and deployments, newest first.",
    markADeployment: "Mark a deployment",
    keptSince: (given: string) => `· kept since ${given}`,
    eventsFound: (amount: number) => count(amount, { one: "# event", other: "# events" }),
    eventsSoFar: (amount: number) => count(amount, { one: "# event so far", other: "# events so far" }),
    loadOlder: "Load older",
    noEventMatches: "No event matches",
    clearTheFilters: "Clear the filters",
    aSubjectIsComparedAs:
      "A subject is compared as a whole: topic/orders, group/billing, broker/2, or cluster for the cluster and its brokers.",
    nothingHappenedInThisTime: "Nothing happened in this time",
    theClusterIsComparedWith:
      "The cluster is compared with its last reading every few seconds. Choose a longer time above.",
  },
  removeMark: {
    theMarkIsTakenBack: "The mark is taken back.",
    removeTheMark: (text: string) => `Remove the mark ${text}`,
    remove: "Remove",
    takeBackThisMark: "Take back this mark",
    takeItBack: "Take it back",
    goesFromTheTimelineAnd: (text: string) =>
      `“${text}” goes from the timeline and from the charts. The audit keeps that it was marked.`,
  },
} as const;
