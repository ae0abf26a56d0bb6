/** What steps fail with, and what leads in the reason where it comes from elsewhere. */
export const failures = {
  "failed/unknown-step": "This version of the service has no such step of {kind}.",
  "failed/more-is-hit": "More would be hit than the plan says. {changes}. Make a new plan.",
  "lead/step-took-longer": "{did_step} took longer than {seconds} s; last seen:",
  "failed/step-took-longer": "{did_step} took longer than {seconds} s; last seen: nothing.",
  "failed/election-refused":
    "{refused:one=# partition|other=# partitions} got no other leader, first {partition} ({error}); {done} of {partitions} are led as planned.",
  "failed/nothing-moved":
    "For {minutes} minutes nothing could be moved to or with {count:one=broker|other=brokers} {brokers}: not up.",
  "failed/others-moved":
    "Somebody else {did:moved=moved|deleted=deleted} {names}{more:none=|other= and # more} meanwhile.",
  "failed/group-active": "The coordinator refused: the group has members ({error}).",
  "failed/more-commits":
    "The group has a commit in {partitions:one=# partition|other=# partitions} of which the plan says nothing.",
  "failed/commit-moved":
    "{partition} {before:unknown=had no commit|other=was at #} in the plan and {after:unknown=has none|other=is at #} now.",
  "failed/topic-gone": "The topic was deleted, or made again, since.",
  "failed/topic-of-another-shape": "Somebody else made {topic} in another shape.",
  "failed/last-login":
    "The password for {mechanism} is the only one that {username} has: without it nobody could log in. Delete the user if that is meant.",
  "failed/paused-too-long": "The roll was paused for more than {hours} hours.",
  "lead/no-broker-taken": "For {minutes} minutes no broker could be taken:",
  "lead/broker-not-taken": "For {minutes} minutes broker {broker} could not be taken:",
  "lead/since-restart": "Since broker {broker} was restarted:",
  "lead/broker-took-longer": "Broker {broker} took longer than {minutes} minutes; last seen:",
  "failed/broker-gone": "Broker {broker} is no broker of the cluster any more.",
  "lead/does-not-start": "Broker {broker} does not start:",
  "lead/host-takes-it-no-more": "The host that was chosen for broker {broker} does not take it any more.",
  "failed/agent-away": "The agent of broker {broker}'s host is away.",
  "failed/address-changed": "The host of broker {broker} has the address {address} by now.",
  "failed/other-ensemble": "The service itself is connected to another ensemble.",
  "failed/broker-not-empty": "Broker {broker} holds a replica of {partition} by now. Drain it, and make a new plan.",
  "lead/directory-gone": "Broker {broker} cannot get the directory any more.",
  "failed/directory-unusable": "Broker {broker} has the directory {directory} and cannot use it.",
  "failed/directory-failed":
    "The directory {directory} of broker {broker} has failed meanwhile: what lies there is made anew by another plan.",
  "failed/directory-works": "The directory {directory} of broker {broker} works again: it is emptied by another plan.",
  "lead/directory-kept": "The host of broker {broker} keeps {directory}:",
  "failed/no-room":
    "The other directories of broker {broker} have no room left: {wanted_bytes} wait to be moved, {room_bytes} may be used.",
  "failed/moves-stalled":
    "For {minutes} minutes nothing more was copied; {replicas:one=# replica is|other=# replicas are} left.",
  "failed/only-copy": "Nobody else has {partition} in sync, as broker {broker} says.",
  "failed/still-in-sync": "Broker {broker} still counts broker {other} as in sync of {partition}.",
};
