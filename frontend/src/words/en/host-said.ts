/** What is said of hosts, by the code of the sentence, as templates (`lib/templates.ts`): a test holds this to the
 * service's. */
export const hostSaid = {
  /** What an act on a host does, by the act. */
  summaries: {
    cordon: "{host} gets no new brokers; its {brokers:one=# broker goes|other=# brokers go} on.",
    uncordon: "{host} gets new brokers again.",
    drain: "{host} gets no new brokers, and its {brokers:one=# broker is|other=# brokers are} to leave it.",
    "declare-lost":
      "{brokers:one=# broker|other=# brokers} on {host} {brokers:one=counts|other=count} as gone. What it has of them is wiped should it come back.",
    remove: "The nodes of {host} in ZooKeeper go, and with them its login and its key.",
  },
  /** Why an act cannot be done now. */
  refusals: {
    "host-state/already": "It is {state:active=active|cordoned=cordoned|draining=draining|lost=lost|removed=removed}.",
    "host-state/no-way":
      "A host that is {state:active=active|cordoned=cordoned|draining=draining|lost=lost|removed=removed} cannot be {after:active=active|cordoned=cordoned|draining=draining|lost=lost|removed=removed}.",
    "host-in-use": "Brokers belong on it: {names}{more:none=|other= and # more}.",
    "host-alive/remove": "The agent of {host} lives: stop it first.",
    "host-alive/lost": "The agent of {host} lives: a host that is there is not lost.",
    "host-away": "Its agent is away.",
    "deletion-owed": "It still has to wipe what it had of {brokers:one=# broker|other=# brokers}.",
    "operation-under-way": "On {cluster} an operation is under way ({kind}): it has to end first, or be cancelled.",
  },
  /** Why a host gets no broker; what begins with "lead/" leads in the next one. */
  nowhere: {
    lost: "It was declared lost.",
    draining: "It is being drained.",
    cordoned: "It is cordoned.",
    away: "Its agent is away.",
    gone: "It is not there any more.",
    "no-key": "It has no key of its own: nothing can be sealed for it.",
    stale: "Its last report of capacity is {age_s} old.",
    "no-disk": "It has {free_gib} GiB of disk free; {wanted_gib} GiB a broker are wanted.",
    "no-port": "It has {ports:one=# free port|other=# free ports}; a broker takes two.",
    "no-port/taken": "A port that was free is taken.",
    "no-version": "It does not have version {version} of the broker.",
    "no-version/because": "It does not have version {version} of the broker: {reason}.",
    "versions-unknown": "Whether it has version {version} of the broker is not known: its agent has not said.",
    "version-differs": "Its version {version} of the broker has other contents than where the cluster runs.",
    "protocol-differs/range":
      "Its version {version} of the broker speaks {oldest} to {newest}, the cluster {protocol}.",
    "protocol-differs/newest":
      "Its version {version} of the broker would speak {newest}, where the cluster's brokers speak {protocol}.",
    "lead/host": "{host}:",
    "no-other-host": "There is no other host.",
  },
  /** Why a broker goes to a host. */
  placed: {
    placed:
      "rack {rack} has {on_rack:one=# broker|other=# brokers} of the cluster; the host {on_host} of them and {in_all:one=# broker|other=# brokers} in all; {free_gib:unknown=free disk not known|other=# GiB of disk free}; {load:unknown=load not known|other=load # a core}",
  },
  /** Why the next broker or cluster is not begun yet; what begins with "lead/" leads in the next one. */
  waiting: {
    "lead/about": "{about}:",
    "as-it-came": "{said}",
    "not-understood": "What is in the way is not understood; it is tried again.",
    "host-of-broker/away": "The host of broker {broker} is away.",
    "operation-ended": "{state:failed=failed|cancelled=cancelled|reverted=undone|other=#}",
    stopped: "{by} stopped it.",
    "agent-away/address": "The host's agent is away: where it serves is not known.",
    "agent-away/zookeeper": "The host's agent is away: which connect string it uses is not known.",
    "serves-elsewhere": "The host's agent serves at {serves}: start it with --address {address} first.",
    "other-connect-string": "The host's agent uses another connect string: start it with --zookeeper first.",
  },
};
