import { rich, type Slot } from "../rich";
import { count, exact, number } from "./grammar";

export const parts = {
  alertBadge: {
    whichAlertsFireCouldNot: "Which alerts fire could not be read.",
    alertsNotKnown: "alerts not known",
    fire: (amount: number, severity: string) =>
      `${count(amount, { one: "# alert fires", other: "# alerts fire" })}, the worst is ${severity}`,
    atLeastFire: (amount: number, severity: string) =>
      `at least ${count(amount, { one: "# alert fires", other: "# alerts fire" })}, the worst is ${severity}`,
    notReadLately: (text: string) => `${text}; not read lately`,
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
  amount: {
    notKnown: "not known",
  },
  asOf: {
    staleAsOf: (time: Slot) => rich`stale: as of ${time}`,
    asOf: (time: Slot) => rich`as of ${time}`,
  },
  brokerState: {
    notAsPlaced: "Not as placed",
    alive: "Alive",
    down: (state: string) => `Down (${state})`,
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
  cost: {
    notKnown: "not known",
    atLeast: (least: string, currency: string) => `at least ${least} ${currency}`,
  },
  dataTable: {
    ofWord: (pageIndex: number, matched: number, matched2: number) =>
      `${number(pageIndex)}–${number(matched)} of ${number(matched2)}`,
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
  pageHeader: {
    seen: (given: Slot, time: Slot) => rich`${given}seen ${time}`,
  },
  pager: {
    page: (control: string) => `${control} page`,
  },
  partitionColumn: {
    partition: "Partition",
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
  replicas: {
    inSync: "in sync",
    notInSync: "not in sync",
    broker: (id: number, hint: string) => `Broker ${id}: ${hint}`,
  },
  scrollBox: {
    scrollsSideways: (label: string) => `${label}, scrolls sideways`,
  },
  searchBox: {
    clearSearch: "Clear search",
  },
  star: {
    favourite: (name: string) => `Favourite: ${name}`,
    theFavouriteWasNotChanged: "The favourite was not changed",
  },
  stats: {
    loading: "Loading",
  },
  topicSelect: {
    searching: "Searching…",
    topicsCouldNotBeSearched: (message: string) => `Topics could not be searched: ${message}`,
    noTopicMatches: "No topic matches",
    thereAreMoreTypeA: "There are more: type a part of the name.",
  },
} as const;
