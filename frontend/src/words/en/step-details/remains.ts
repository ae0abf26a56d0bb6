/** What an operation leaves that failed or was cancelled, as whole sentences. */
export const remains = {
  "remains/addresses":
    "Brokers that were restarted by then advertise the new address, the others the one of before; clients and brokers follow both.",
  "remains/addresses-put-back": "{brokers:one=# broker|other=# brokers} put back to the address of before.",
  "remains/broker-goes-on": "Broker {broker}: it goes on at its new place.",
  "remains/broker-holds-replicas": "Broker {broker} stays: replicas were put on it meanwhile.",
  "remains/broker-in-sync": "Broker {broker}: it is in sync at its new place and stays there.",
  "remains/broker-lost": "Broker {broker}: its host is away; it stays lost.",
  "remains/broker-restarting": "The broker stays as it is: its agent goes on starting it.",
  "remains/brokers-added":
    "A new broker that could not be taken away stays one of the cluster: a plan that removes it takes it away.",
  "remains/brokers-stopped":
    "Brokers that were stopped and did not start again stay in the list of the cluster's brokers: remove them once more.",
  "remains/cluster-deleted":
    "What was stopped and deleted does not come back. The cluster stays, as FAILED: delete it once more.",
  "remains/cluster-failed":
    "Where its brokers cannot be removed the cluster stays, as FAILED: delete it to remove them.",
  "remains/commit-gone":
    "The commit of {group} in {partitions:one=# partition|other=# partitions} went with the topic.",
  "remains/connect":
    "Brokers that were restarted by then use the new connect string, the others the one of before; both lead to the same ensemble while its members of before are in it.",
  "remains/connect-put-back": "{brokers:one=# broker|other=# brokers} put back to the connect string of before.",
  "remains/credentials": "The new credentials may be in use; the earlier ones are forgotten then.",
  "remains/directory-added":
    "Brokers that were restarted by then have the directory, the others do not. The undo takes it away from those again.",
  "remains/directory-removed": "Brokers that were restarted by then do not use the directory any more, the others do.",
  "remains/leaders": "Leaders that were elected by then lead on: no data was moved, and each is a replica in sync.",
  "remains/login": "A login that was deleted does not come back: its password is not known.",
  "remains/login-of":
    "The login of {username} by {mechanisms} is deleted, and its password is not known: it stays so. Its rules are there as before.",
  "remains/may-stay": "What “{did_step}” did may stay: “{back_step}” was not run.",
  "remains/may-stay/failed": "What “{did_step}” did may stay: “{back_step}” failed{reason:unknown=|other= (#)}.",
  "remains/moves": "Partitions that had arrived on their new brokers stay there; moves under way are stopped.",
  "remains/not-restarted": "Not restarted: {count:one=broker|other=brokers} {brokers}.",
  "remains/offsets":
    "The offsets of {group} in {partitions:one=# partition|other=# partitions} stay where this operation took them: the group has members again.",
  "remains/partitions": "Partitions that were added stay: nothing removes them.",
  "remains/partitions-added":
    "{topic} has {partitions:one=# partition|other=# partitions} now, {before} before: partitions can be added, never removed.",
  "remains/password-new":
    "The new password is not shown. Without an overlap the old one may be refused now, with one the new one may stand beside it: give the user a new password once more.",
  "remains/password-old": "The old password of {username} is gone, so the new one stays.",
  "remains/password-removed": "A password that was removed does not come back: it is not known.",
  "remains/protocol-pinned": "The protocol that the brokers speak stays written down.",
  "remains/protocol-raised":
    "Brokers that were restarted by then speak the new protocol, the others do at their next restart: each understands both.",
  "remains/records": "Records that were deleted do not come back.",
  "remains/records-of":
    "Records of {partitions:one=# partition|other=# partitions} of {topic} are deleted: records that are deleted do not come back.",
  "remains/replaced":
    "A broker whose host is away stays lost until it is put elsewhere; one that has begun at its new place goes on there.",
  "remains/replaced/in-sync": "The broker is in sync at its new place and stays there.",
  "remains/replaced/leaders": "Who leads a partition meanwhile goes on leading it.",
  "remains/replaced/reads": "It goes on reading what it lacks, without a limit.",
  "remains/replicas-arrived": "Replicas that had arrived in other directories stay there.",
  "remains/restart-failed": "Failed: {count:one=broker|other=brokers} {brokers}.",
  "remains/restarted": "Restarted: {count:one=broker|other=brokers} {brokers}.",
  "remains/retention": "The retention may be back although not every broker said so; the lease's end is tried again.",
  "remains/roll": "Brokers that were restarted by then have the new process; the others have the one of before.",
  "remains/settings": "Settings that were changed by then stay changed: the undo puts them back.",
  "remains/topic-being-deleted": "The controller took the deletion of {topic}: it goes on, and is not stopped.",
  "remains/topic-deleted": "The topic {topic} is deleted, with its records: the records are gone with the topic.",
  "remains/topic-deletion": "A topic whose deletion the controller took does not come back.",
  "remains/topic-maybe-written": "The topic {topic} stays: it was made, and may hold records.",
  "remains/topic-somebodys": "There is a topic {topic}, which this operation or somebody else made.",
  "remains/topic-written": "The topic {topic} stays: it was made, and records have been written to it.",
  "remains/version-new": "Every broker runs the new version. The undo takes all back.",
  "remains/versions":
    "Brokers that were restarted by then run the new version, the others the one of before: both speak the protocol of before. The undo takes all back.",
};
