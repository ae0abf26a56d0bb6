import { rich, type Slot } from "../rich";
import { count, number } from "./grammar";

export const lateParts = {
  alertsHere: {
    whetherAlertsFireHereCould: "Whether alerts fire here could not be read; it is tried again.",
    theNewestAlertsOfThe: (amount: number) =>
      `The newest ${amount} alerts of the cluster say nothing of it; older ones were not looked at.`,
    openAlerts: (amount: number) => count(amount, { one: "# open alert", other: "# open alerts" }),
    openAlertsOrMore: (amount: number) =>
      count(amount, { one: "# open alert or more", other: "# open alerts or more" }),
    allAlertsOfTheCluster: "All alerts of the cluster",
    openAlerts2: "Open alerts",
    andMore: (amount: number) => `and ${number(amount)} more`,
    runbook: "Runbook",
    since: (time: Slot) => rich`since ${time}`,
  },
  cost: {
    notKnown: "not known",
    atLeast: (least: string, currency: string) => `at least ${least} ${currency}`,
  },
  deliveryTable: {
    waiting: "Waiting",
    itWasNotTriedYet: "It was not tried yet.",
    retrying: "Retrying",
    theLastAttemptFailedIt: "The last attempt failed; it is tried again by itself.",
    sent: "Sent",
    theDestinationHasTakenIt: "The destination has taken it.",
    deadLetter: "Dead letter",
    itIsNotTriedAgain: "It is not tried again unless somebody sends it again.",
    taken: (time: Slot) => rich`taken ${time}`,
    notTriedYet: "not tried yet",
    http: (status: number) => `(HTTP ${status})`,
    nextTry: (time: Slot) => rich`, next try ${time}`,
    itIsSentAgain: "It is sent again.",
    sendAgain: (id: string) => `Send ${id} again`,
    sendAgain2: "Send again",
    state: "State",
    made: "Made",
    to: "To",
    notification: "Notification",
    attempts: "Attempts",
    result: "Result",
    actions: "Actions",
    deliveries: "Deliveries",
  },
  eventList: {
    seenThen: (before: string) => `seen then; last seen otherwise ${before}`,
    events: "Events",
    by: (by: string) => `by ${by}`,
    openOperation: "Open operation",
    openAlert: "Open alert",
    openTopic: "Open topic",
    openGroup: "Open group",
    openBroker: "Open broker",
  },
  exportButton: {
    theFileHoldsTheFirst: "The file holds the first 100,000 rows, not all: search first.",
    thereIsNoFile: "There is no file",
    csv: "CSV",
  },
  formModal: {
    cancel: "Cancel",
    closeThisFormTheList:
      "Close this form: the list behind it shows what it is now. Open it again if you still want the change.",
  },
  moreMenu: {
    more: "More",
  },
  needsRole: {
    theWholeCluster: "the whole cluster",
    topicsLikeThis: "topics like this",
    thisGroup: "this group",
    youMayLookAtThis: "You may look at this, not change it",
    clusters: "clusters",
    needsTheRoleOperatorOn: (what: string, given: string) =>
      `${what} needs the role operator on ${given}. An owner of the tenant can give it.`,
  },
  pager: {
    page: (control: string) => `${control} page`,
  },
  partitionColumn: {
    partition: "Partition",
  },
  replicas: {
    leader: "leader",
    inSync: "in sync",
    notInSync: "not in sync",
    broker: (id: number, hint: string) => `Broker ${id}: ${hint}`,
  },
  star: {
    favourite: (name: string) => `Favourite: ${name}`,
    theFavouriteWasNotChanged: "The favourite was not changed",
  },
  topicSelect: {
    searching: "Searching…",
    topicsCouldNotBeSearched: (message: string) => `Topics could not be searched: ${message}`,
    noTopicMatches: "No topic matches",
    thereAreMoreTypeA: "There are more: type a part of the name.",
  },
  sighting: {
    between: (equal: Slot, seen: Slot) => rich`between ${equal} and ${seen}`,
    before: (seen: Slot) => rich`before ${seen}`,
    changedAgain: (at: Slot) => rich`again before ${at}`,
    unknown: "unknown, outside of this service",
    from: (host: string) => `from ${host}`,
    thatOperation: "the operation that did not succeed",
    operationOf: (name: string) => `Operation that changed ${name}`,
  },
  mend: {
    putBack: "Put back…",
    takeOver: "Take over…",
    putBackNamed: (name: string) => `Put back ${name} as it was left`,
    takeOverNamed: (name: string) => `Take over ${name} as the brokers have it`,
  },
  brokerState: {
    notAsPlaced: "Not as placed",
    alive: "Alive",
    down: (state: string) => `Down (${state})`,
    /** Of its process, as its host's agent reports it. */
    states: {
      stopped: "stopped",
      starting: "starting",
      running: "running",
      exited: "exited",
      backoff: "backoff",
      failed: "failed",
      deleted: "deleted",
      unknown: "unknown",
    },
  },
  scrollBox: {
    scrollsSideways: (label: string) => `${label}, scrolls sideways`,
  },
} as const;
