/** What plans and operations do, by the code of the sentence, as templates (`lib/templates.ts`): a test holds this to the
 * service's. */
export const summaries = {
  "acl.create": "Add {rules:one=# access rule|other=# access rules}.",
  "acl.create/adopted": "Take over that {rules:one=# access rule is|other=# access rules are} there.",
  "acl.delete": "Remove {rules:one=# access rule|other=# access rules}.",
  "acl.delete/adopted": "Take over that {rules:one=# access rule is|other=# access rules are} gone.",
  "broker.restart":
    "Stop and start broker {broker}, which leads {partitions:one=# partition|other=# partitions} and holds {replicas:one=# replica|other=# replicas}.",
  "cluster.add_brokers": "Add {added:one=# broker|other=# brokers} to {brokers:one=# broker|other=# brokers}.",
  "cluster.add_log_directory":
    "Give {brokers:one=# broker|other=# brokers} the directory {directory} for their logs, with a restart of each, one after the other.",
  "cluster.change_addresses":
    "Stop {brokers:one=# broker|other=# brokers} and start each at the address that its host has now, one after the other.",
  "cluster.change_zookeeper":
    "Stop {brokers:one=# broker|other=# brokers} and start each with the connect string to ZooKeeper that its host's agent uses, one after the other.",
  "cluster.configure": "Change {settings:one=# setting|other=# settings} of all brokers, while they run.",
  "cluster.configure/adopted": "Take over {settings:one=# setting|other=# settings} of all brokers as they are.",
  "cluster.configure/restarts":
    "Change {settings:one=# setting|other=# settings} of all brokers, with {restarts:one=# restart|other=# restarts}, one after the other.",
  "cluster.create": "Start {brokers:one=# broker|other=# brokers} on {hosts:one=# host|other=# hosts}.",
  "cluster.credentials": "Reach {cluster} at {addresses} by another login.",
  "cluster.delete": "Delete {brokers:one=# broker|other=# brokers} and all their data.",
  "cluster.delete/registered": "Stop governing this cluster; it goes on running.",
  "cluster.empty_log_directory":
    "Move {replicas:one=# replica|other=# replicas} out of the directory {directory} of {brokers:one=# broker|other=# brokers}, and take it away with a restart of each, one after the other.",
  "cluster.empty_log_directory/stays":
    "Move {replicas:one=# replica|other=# replicas} out of the directory {directory} of {brokers:one=# broker|other=# brokers}, which go on using it.",
  "cluster.finalize_version":
    "Raise what brokers speak to each other from {protocol} to {newest}, with {restarts:one=# restart|other=# restarts}, one after the other.",
  "cluster.register": "Govern the cluster at {addresses}: {brokers:one=# broker|other=# brokers}.",
  "cluster.remove_brokers": "Remove {removed:one=# broker|other=# brokers} of {brokers}; {left} stay.",
  "cluster.replace_broker":
    "Stop broker {broker} where it is, and have another host run it; {replicas:one=# replica is|other=# replicas are} read anew.",
  "cluster.replace_broker/given-up":
    "Give up broker {broker} where it is, and have another host run it; {replicas:one=# replica is|other=# replicas are} read anew.",
  "cluster.restart": "Stop and start {brokers:one=# broker|other=# brokers}, one after the other.",
  "cluster.upgrade":
    "Stop {brokers:one=# broker|other=# brokers} and start each of {release}, one after the other; they go on speaking {protocol} to each other.",
  "group.delete": "Delete {group} and its place in {partitions:one=# partition|other=# partitions}.",
  "leaders.elect": "Let {partitions:one=# partition|other=# partitions} be led by the broker that they prefer.",
  "offset.reset":
    "Move {partitions:one=# partition|other=# partitions} of {group}: {reread:one=# record|other=# records} read again, {skipped} skipped{first_read:none=|other=, # to be read from there on}{removed:none=|one=, the commit removed in # partition|other=, the commit removed in # partitions}.",
  "offset.reset/removed": "Remove the commit of {group} in {partitions:one=# partition|other=# partitions}.",
  "offset.restore":
    "Move {partitions:one=# partition|other=# partitions} of {group}: {reread:one=# record|other=# records} read again, {skipped} skipped{first_read:none=|other=, # to be read from there on}{removed:none=|one=, the commit removed in # partition|other=, the commit removed in # partitions}.",
  "offset.restore/removed": "Remove the commit of {group} in {partitions:one=# partition|other=# partitions}.",
  "quota.set/adopted-client":
    "Take over the quotas of {client:unknown=every client id|other=client id #} as the brokers have them.",
  "quota.set/adopted-client-of-user":
    "Take over the quotas of {client:unknown=every client id|other=client id #} of {user:unknown=every user|other=user #} as the brokers have them.",
  "quota.set/adopted-user": "Take over the quotas of {user:unknown=every user|other=user #} as the brokers have them.",
  "quota.set/client": "Set the quotas of {client:unknown=every client id|other=client id #}.",
  "quota.set/client-of-user":
    "Set the quotas of {client:unknown=every client id|other=client id #} of {user:unknown=every user|other=user #}.",
  "quota.set/user": "Set the quotas of {user:unknown=every user|other=user #}.",
  reassignment:
    "Move {partitions:one=# partition|other=# partitions}, {size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}.",
  "reassignment/adopted": "Take over where the replicas of {partitions:one=# partition|other=# partitions} are.",
  "reassignment/drain":
    "Move {partitions:one=# partition|other=# partitions} off broker {broker}, {size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}.",
  "reassignment/factor":
    "Give {partitions:one=# partition|other=# partitions} a replication factor of {replicas}, {size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}.",
  "topic.create":
    "Create {topic}: {partitions:one=# partition|other=# partitions}, {replicas:one=# replica|other=# replicas} each.",
  "topic.delete": "Delete {topic} and its data for good.",
  "topic.empty": "Delete the {records:one=# record|other=# records} of {topic}, and keep the topic.",
  "topic.partitions": "Add {partitions:one=# partition|other=# partitions} to {topic}.",
  "topic.partitions/adopted": "Take over that {topic} has {partitions:one=# partition|other=# partitions}.",
  "topic.retention_lease": "Keep the records of {topic} for {kept_ms}, for the next {lasting_s}.",
  "topic.retention_lease/extended": "Extend the lease of {topic}: {kept_ms} of records, for the next {lasting_s}.",
  "topic.retention_restore": "Put the retention of {topic} back to {before_ms:unknown=its default}.",
  "topic.retention_restore/for-ever": "Put the retention of {topic} back to for ever.",
  "topic.update": "Change {settings:one=# setting|other=# settings} of {topic}.",
  "topic.update/adopted":
    "Take over {settings:one=# setting|other=# settings} of {topic} as the brokers have {settings:one=it|other=them}.",
  "user.create": "Create the user {user} with {rules:one=# ACL|other=# ACLs}.",
  "user.delete": "Delete the user {user} and {rules:one=# ACL|other=# ACLs} about it.",
  "user.retire": "Remove the password of {user} for {mechanism}.",
  "user.retire/new": "Remove the new password of {user} ({mechanism}); the old one stays, and the overlap is over.",
  "user.retire/old": "Remove the old password of {user} ({mechanism}); the new one stays, and the overlap is over.",
  "user.rotate": "Give {user} a new password.",
  "user.rotate/overlap": "Give {user} a second password, and remove the old one after {overlap_s}.",
};
