/** What plans warn of, by the code of the sentence: tests hold this to all that the service has. */
export const warnings = {
  /** Templates: `{partitions:one=# partition|other=# partitions}` is put by the number in the plural forms of the language,
   * `{state:failed=…|cancelled=…}` by the text, `{size_bytes}` as the end of its name says (`lib/templates.ts`). */
  sentences: {
    "access-lost": "No other rule grants this: {rules}{more:none=|other= and # more}. Clients that use it are refused.",
    "active-readers": "Reading it right now: {names}{more:none=|one= and # more group|other= and # more groups}.",
    "active-readers/hidden": "Reading it right now: {more:one=# group|other=# groups}.",
    "address-failed": "{answer}. This address does not let Penstock in.",
    "addresses-go":
      "{addresses}{more:none=|other= and # more}: clients that know the cluster by these addresses alone do not find it any more. Give them the new bootstrap servers first.",
    adopts: "Nothing is changed at the brokers; what they have is what this service wants from now on.",
    "adopts/replicas": "Nothing is moved; where the replicas are is what this service wants from now on.",
    "advertised-failed":
      "{answer}. The Kafka sends its clients to an address that does not let Penstock in; what this broker leads or coordinates will be unknown.",
    "at-min-isr":
      "As many replicas as min.insync.replicas asks for: {topics}{more:none=|other= and # more}. While one of them is down producers with acks=all are refused there.",
    "below-min-isr/broker":
      "While it is away acks=all is refused by partitions of {topics:one=# topic|other=# topics}, which then have fewer in sync than min.insync.replicas.",
    "below-min-isr/moves":
      "Fewer replicas than min.insync.replicas asks for: {topics}{more:none=|other= and # more}. Producers with acks=all are refused there.",
    "below-min-isr/roll":
      "{topics:one=# topic|other=# topics} with partitions that need all their replicas (min.insync.replicas): acks=all is refused while one of them is away.",
    "both-addresses":
      "Until the end the hosts have to be reachable at the addresses of before and at the new ones: brokers that were not taken yet are at the former.",
    "both-passwords-stay":
      "The old password of {names}{more:none=|one= and of # more user|other= and of # more users} stays: a rotation with an overlap is not over, and nobody removes the old password once the cluster is let go. End the overlap first (user.retire).",
    "both-strings":
      "Until the end both connect strings have to lead to the ensemble: brokers that were not taken yet use the one of before, and one that does not come back gets it again.",
    "bounds-service":
      "It bounds the user by which Penstock connects, too, unless that has a quota of its own: with too little of it what is shown here is late, and operations fail.",
    "brokers-away": "Not up now, so taken first: {brokers}. No other one is taken before all are up and in sync.",
    "clients-begin": "Clients that run follow by metadata. Those that begin anew need the new addresses: {addresses}",
    "clients-lose-access": "Clients of this user are refused at their next connection.",
    "clients-lose-access/mechanism":
      "Clients that log in by {mechanism} are refused at their next login; those that do by {left} go on.",
    "clients-lose-access/sessions":
      "Clients that log in by {mechanism} are refused at their next login; those that do by {left} go on.{session_s:unknown= Connections that are open then may go on until they close by themselves: how long a login lasts (connections.max.reauth.ms) could not be read.|none= Connections that are open then go on until they close by themselves: connections.max.reauth.ms is 0, so no login is asked for again.|other= Connections that are open then are asked for their login again within # (connections.max.reauth.ms), and refused.}",
    "commit-removed":
      "The commit in {partitions:one=# partition|other=# partitions} is removed: auto.offset.reset of the group's consumers then decides where they begin. earliest reads {reread:one=# record|other=# records} again, latest skips {skipped:one=# record|other=# records}, none is an error to them.",
    "compact-by-default":
      "Topics are compacted unless they say otherwise: of each key only the latest value is kept, and records without a key are refused.",
    "compact-to-delete":
      "Leaving compaction: records older than the retention are deleted, the last value of a key too.",
    "compact-to-delete/both":
      "The retention holds from now on: records older than it are deleted, the last value of a key too.",
    "controller-moves": "One of them is the active controller: it is stopped last, and another broker takes over.",
    "credentials-forgotten":
      "Its credentials are forgotten: to govern it again they must be given again. {topic} is removed from it, where it answers and no other registration is of the same Kafka.",
    "cut-by-size":
      "retention.bytes is {size} a partition: at the rate it is written to, records are deleted by size before the longer time is over.",
    "data-loss/cluster": "Every topic on this cluster is deleted.",
    "data-loss/emptied":
      "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|one=# record|other=# records} are deleted on every replica: {size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}.",
    "data-loss/host":
      "{cluster}: {partitions:one=# partition|other=# partitions} with all replicas there or on brokers lost before; what is in them is lost.",
    "data-loss/topic":
      "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|one=# record|other=# records} ({size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}) {records:unknown=are|one=is|other=are} deleted.",
    "default-unknown":
      "{key} goes back to its default, which the brokers do not report: what it does to the data cannot be foreseen.",
    "delete-to-compact":
      "Of each key only the latest value is kept: the older ones go, and undoing this does not bring them back. Records without a key will be refused.",
    "deletion-owed":
      "Its disk still holds what it had of {brokers:one=# broker|other=# brokers}. It is told to wipe that when it joins again.",
    "deny-lifted": "Without {rules:one=# DENY rule|other=# DENY rules} more is allowed.",
    "deny-wins": "A DENY rule beats every ALLOW rule: who used it so far is refused.",
    "disk-unknown": "Whether the disks have room for it is not known of all brokers: {reasons}.",
    "disk-unknown/no-places":
      "Whether the disks have room for it is not known of all brokers: no broker says where its replicas are.",
    "empty-at-first":
      "New brokers hold nothing but what topics that are made then put on them. A plan that moves replicas onto them is offered afterwards.",
    "ends-lease":
      "retention.ms is held by a lease until {until_at}. What is set now stays: the lease does not put back what was there before it.",
    "ends-overlap":
      "Two passwords of {username} stand until {until_at}: both are replaced by the new one, under both mechanisms, and the overlap is over.",
    "every-resource": "The name * covers everything, also later.",
    everyone: "User:* means every user on this cluster.",
    "few-brokers": "Fewer than 3 brokers: a lost broker can mean lost data.",
    "few-brokers/stay": "Fewer than 3 brokers stay: a lost broker can mean lost data.",
    "fewer-replicas": "A replica less for {partitions:one=# partition|other=# partitions}.",
    "first-commit":
      "The group has no commit in {partitions:one=# partition|other=# partitions}: {records:one=# record|other=# records} will be read from there on.",
    "host-away": "Its agent is away, so nobody can stop them there: they wait for it.",
    "hosts-away": "Not known of {brokers:one=# broker|other=# brokers}: the host's agent is away.",
    "in-the-clear": "{mechanism} without TLS: whoever is on the way to the brokers can read what logs in.",
    "kafka-unknown":
      "Penstock never learned this Kafka's own id: that the new way leads to the same one is not checked.",
    "kept-longer/default-size":
      "Data is kept for {kept:one=# byte|other=# bytes} and deleted by whole segments, which end after {rolled:one=# byte|other=# bytes}: it may stay that much longer.",
    "kept-longer/default-time":
      "Data is kept for {kept_ms} and deleted by whole segments, which end after {rolled_ms}: it may stay that much longer.",
    "kept-longer/size":
      "retention.bytes of {kept_bytes} is less than segment.bytes of {rolled_bytes}: data goes by whole segments, so it may stay {rolled_bytes} longer.",
    "kept-longer/time":
      "retention.ms of {kept_ms} is less than segment.ms of {rolled_ms}: data goes by whole segments, so it may stay {rolled_ms} longer.",
    "keys-move": "A key may map to another partition from now on: order per key is broken at the change.",
    "keys-move/keyed":
      "A key may map to another partition from now on: order per key is broken at the change. This topic is compacted, so it is keyed.",
    "later-stays": "What producers write after this plan was made stays: it goes up to the offsets below.",
    "leaders-move/broker":
      "{partitions:one=# partition|other=# partitions} get another leader; clients follow by themselves.",
    "leaders-move/elect":
      "{partitions:one=# partition gets|other=# partitions get} another leader; clients follow by themselves.",
    "leaders-move/replace":
      "What it leads gets other leaders before it stops; clients follow by themselves, and find its new address in the cluster's metadata.",
    "leaders-move/roll":
      "Every partition that a broker leads gets another leader before it stops, and its own again afterwards; clients follow by themselves.",
    "left-out":
      "{partitions:one=# partition|other=# partitions} more are left to the next plan: one takes at most {most}.",
    lifted: "No quota of its own any more: {quotas}. Defaults hold, if any.",
    limited:
      "What it reads anew is limited to {limit_bytes_per_s} on each broker; the limit is taken off at the end, and when the operation ends otherwise.",
    "loss-unknown": "What only {host} has of {cluster} is not known.",
    "low-replication": "Replication factor {replicas}: losing {replicas:one=# broker|other=# brokers} can lose data.",
    "made-anew":
      "{directory} of broker {brokers} has failed: what lies there is not moved but read anew from the other replicas, and is gone if the disk comes back.",
    "mechanism-changes":
      "Clients take the new password together with sasl.mechanism={new}: with {old} it is refused. Rules and quotas of the user stay as they are.",
    "mechanism-not-everywhere":
      "Listeners that do not enable {mechanism}: {listeners:each|*=those without their own|other=#}. Clients that use them cannot log in with the new password.",
    "mechanism-unknown":
      "sasl.enabled.mechanisms {brokers:none=|one=of # broker |other=of # brokers }could not be read{reason:unknown=|other= (#)}: whether clients can log in by {mechanism} is unknown. Try the new password before the old one ends.",
    "min-isr-unknown": "min.insync.replicas could not be read of {topics}{more:none=|other= and # more}.",
    "moved-one-by-one":
      "They leave one after another, each by an operation of its own, while nothing else of its cluster is out of sync; the drain can be paused between two.",
    "new-group": "There is no group {group} on this cluster: this makes one. Check the name.",
    "new-group/again": "There is no group {group} now: this makes it again.",
    "no-acls": "Without an ACL the user can do nothing.",
    "no-commit": "{partitions:one=# partition|other=# partitions} without a commit: left so.",
    "no-leader":
      "{partitions:one=# partition|other=# partitions} without a leader now ({names}{more:none=|other= and # more}): where the log begins and ends is unknown, and the offset is left as it is.",
    "no-limit": "It reads all that it had as fast as the others can send, which clients may feel: nothing limits it.",
    "no-slack":
      "{key} {least} with {replicas:one=# replica|other=# replicas}: one broker down stops every acks=all write.",
    "no-slack/topic":
      "{key} {least} of {replicas:one=# replica|other=# replicas}: one broker down stops every acks=all write.",
    "no-undo": "This cannot be undone: {final}.",
    "no-way-back": "There is no way back to {before}: {reason}",
    "no-way-back/gone": "There is no way back to {before}: It is not there.",
    "no-way-back/raised": "Afterwards brokers cannot go back to {versions}, which does not know {protocol}.",
    "not-all": "The other brokers of the cluster go on as they are.",
    "not-encrypted":
      "Without TLS whoever listens on the network reads every record, and can guess passwords from the logins that he sees. This cannot be changed later.",
    "not-in-sync":
      "{partitions:one=# partition|other=# partitions} keep their leader: the broker that they prefer is not in sync, or not there.",
    "not-restored/fills-disk": "What a full disk has refused or lost before the undo stays so.",
    "not-restored/loses-access": "What clients were refused before the undo stays undone.",
    "not-restored/loses-data": "Records that are deleted before the undo do not come back.",
    "not-restored/opens-access": "What was read or changed before the undo stays so.",
    "not-restored/skips-records":
      "What consumers read or skip before the undo stays so, and records that expire before it are gone.",
    "not-tried": "{addresses:one=# address|other=# addresses} beyond the first {most} were not tried.",
    "offsets-lost":
      "Consumers that come back under this name begin where auto.offset.reset says: at the first record or the last.",
    "old-data-wiped": "Whatever its host still has of it is wiped should that come back.",
    "old-password-ends": "The old password is refused at the next connection of each client.",
    "old-password-until":
      "The old password ({mechanism}) works for {overlap_s} from when the new one is stored: until about {until_at}, if confirmed now. Then it is removed, and clients that use it are refused at their next login.{session_s:unknown= Connections that are open then may go on until they close by themselves: how long a login lasts (connections.max.reauth.ms) could not be read.|none= Connections that are open then go on until they close by themselves: connections.max.reauth.ms is 0, so no login is asked for again.|other= Connections that are open then are asked for their login again within # (connections.max.reauth.ms), and refused.}",
    "one-host": "All brokers share one host: they fail with it.",
    "one-rack": "All brokers share one rack: it can fail as a whole.",
    "one-rack/replicas": "All replicas on one rack in the end: {partitions:one=# partition|other=# partitions}.",
    "opens-access": "Every user of this cluster, also later: {rules}{more:none=|other= and # more}.",
    "own-removed": "What broker {brokers} has set for itself is taken away; the undo does not set it again.",
    "own-setting": "{key} is set for broker {brokers} alone, which goes by that still.",
    "partitions-offline/broker":
      "While it is away nobody serves partitions of {topics:one=# topic|other=# topics}: no other replica is in sync. Clients wait or fail.",
    "partitions-offline/roll":
      "{topics:one=# topic|other=# topics} with partitions that have one replica only: nobody serves them while their broker is away. Clients wait or fail.",
    "per-broker": "Each broker bounds what reaches it: on all brokers together it is as many times that.",
    probe: "To say how long clients waited the service writes to {topic}, a topic of its own.",
    "protocol-stays":
      "The brokers go on speaking {protocol} to each other. {release} knows {newest}: that is a decision of its own, when all run it.",
    rebalance:
      "{groups_are:exact=|least=At least }{groups:unknown=An unknown number of groups|one=# group|other=# groups} will rebalance.",
    recent: "Its agent wrote {age_s} ago: it may only be restarting.",
    "records-reread": "{records:one=# record|other=# records} will be read a second time.",
    "records-skipped": "{records:one=# record|other=# records} will not be read by this group.",
    "redundancy-lower":
      "Until its replicas are in sync there, each of its partitions has one replica less: another broker that fails meanwhile takes more with it.",
    "registered-already":
      "This is the Kafka that is registered as {cluster}: its telemetry will be written twice, and operations of the two do not exclude each other.",
    "releases-differ":
      "The brokers would be of several releases, which speak {protocols} to each other: they need not understand each other until the platform's hosts are of one.",
    "remote-deleted":
      "remote.storage.enable is off and remote.log.delete.on.disable on: what the topic holds in remote storage is deleted for good.",
    "replicas-stay": "Replicas stay where they are: a new one goes to the directory with the fewest.",
    "restores-itself":
      "After {lease_s} the service puts retention.ms back to {before_ms:unknown=its default}: what is older is deleted then, read or not.",
    "restores-itself/for-ever":
      "After {lease_s} the service puts retention.ms back to for ever: what is older is deleted then, read or not.",
    "retention-cut/size": "retention.bytes falls to {kept_bytes}: what is beyond it is deleted for good.",
    "retention-cut/time": "retention.ms falls to {kept_ms}: what is beyond it is deleted for good.",
    "retention-stays":
      "The raised retention of {names}{more:none=|one= and of # more topic|other= and of # more topics} stays: nobody puts it back once the cluster is let go. End the lease first (topic.retention_restore).",
    "room-unknown": "How much room there is nobody says.",
    "same-disk":
      "Of broker {brokers} the directory lies on a disk that it uses already: it gives no more room, and fails with it.",
    "service-kept-out": "The users of this service get quotas of their own, so that it does not bound them.",
    "settings-kept":
      "Defaults of topics stay as they are with more brokers: {settings}. Change them in the cluster's configuration.",
    "shared-host/offline":
      "One host gets {lost} of {brokers} brokers: while it is away partitions that have all their replicas there are offline.",
    "shared-host/too-few":
      "One host gets {lost} of {brokers} brokers: while it is away no partition has the {least:one=# replica|other=# replicas} in sync that writes want.",
    "shared-host/unwritable":
      "One host gets {lost} of {brokers} brokers: while it is away partitions that have {together} of {replicas} replicas there cannot be written.",
    "shared-rack/offline":
      "Rack {rack} gets {lost} of {brokers} brokers: while it is away partitions that have all their replicas there are offline.",
    "shared-rack/too-few":
      "Rack {rack} gets {lost} of {brokers} brokers: while it is away no partition has the {least:one=# replica|other=# replicas} in sync that writes want.",
    "shared-rack/unwritable":
      "Rack {rack} gets {lost} of {brokers} brokers: while it is away partitions that have {together} of {replicas} replicas there cannot be written.",
    "throttle-is-coarse":
      "The first fetch of a partition may pass whole, up to replica.fetch.max.bytes (1 MiB unless the brokers set another): small partitions move faster than the limit.",
    "throttle-is-wide": "The limit holds for all replication of these partitions, not only the move.",
    "throttle-present": "These brokers have a throttle already: {brokers}.",
    "throttle-unknown": "Whether these brokers have a throttle is unknown: {brokers}.",
    throttles: "Clients above it are slowed down at once: {quotas}.",
    "tiny-messages":
      "max.message.bytes {limit}: larger batches are refused, and producers fill theirs up to {batch:one=# byte|other=# bytes} unless they are set otherwise.",
    "tiny-segments":
      "segment.bytes {size}: every partition becomes many small files, each of them open on its brokers.",
    "too-few-brokers":
      "{key} {replicas} with {brokers:one=# broker|other=# brokers}: {key:default.replication.factor=a topic without a factor of its own is refused|offsets.topic.replication.factor=consumer groups cannot commit offsets|transaction.state.log.replication.factor=transactions cannot begin}.",
    "too-weak": "With this login Penstock cannot {what}.",
    "unclean-election":
      "unclean.leader.election.enable: a replica that is behind may become the leader; acknowledged records are lost then.",
    "under-replicated": "Not in sync now: {partitions:one=# partition|other=# partitions}.",
    "undo-is-final": "The undo itself is final: {final}.",
    undoes: "This undoes {operation}: {restores}.",
    "undoes/rest":
      "This takes away what {operation} left, which is {state:failed=failed|cancelled=cancelled}: {remains}",
    "undoes/unnoted":
      "This takes away what {operation} left, which is {state:failed=failed|cancelled=cancelled}: nobody noted what.",
    unknown: "Unknown: {reason}. That leaves uncertain: {extents}.",
    unread:
      "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|one=# record|other=# records} of its topics are unread by this group.",
    "unread-lost":
      "Not read yet, and never to be read: by {names}{more:none=|one= and # more group|other= and # more groups}.",
    "unread-lost/hidden": "Not read yet, and never to be read: by {more:one=# group|other=# groups}.",
    unthrottled: "No limit: the move may take bandwidth from clients.",
    unwritable: "{key} {least} with {replicas:one=# replica|other=# replicas}: acks=all can never succeed.",
    "very-low": "So low that clients may time out: {quotas}.",
    "way-back/all-know": "Every version on the hosts knows {protocol}: brokers may still go back to each.",
    "way-back/any-time": "Brokers may go back to {before} at any time: it knows every protocol that {after} speaks.",
    "way-back/until-raised":
      "Brokers may go back to {before} as long as they speak {protocol}: until the protocol is raised by cluster.finalize_version.",
    "weak-acks":
      "min.insync.replicas 1: acks=all may mean the leader alone, and losing it then loses records that were acknowledged.",
    "writes-there":
      "Penstock writes to this cluster: its telemetry to the topic {topic} ({partitions:one=# partition|other=# partitions}, at most {replicas:one=# replica|other=# replicas}, kept for {kept_ms}), and throttle settings of brokers and topics while partitions move. Else it changes only what a confirmed plan says. Letting the cluster go removes the topic.",
  },
  /** What codes in parameters are called, by the parameter. */
  phrases: {
    quotas: {
      consumer_byte_rate: "bytes consumed a second",
      controller_mutation_rate: "partitions created or deleted a second",
      producer_byte_rate: "bytes produced a second",
      request_percentage: "percent of a request thread",
    },
    restores: {
      "acl.create": "the rules are removed",
      "acl.delete": "the rules are added again",
      "cluster.add_brokers": "the new brokers are removed, while they hold no replicas",
      "cluster.add_log_directory": "the directory is emptied and taken away from the brokers",
      "cluster.configure":
        "the settings go back to what they were, by the same way; what single brokers had for themselves does not",
      "cluster.empty_log_directory": "the brokers get the directory again, empty",
      "cluster.remove_brokers": "as many brokers are added again, with other ids and without data",
      "cluster.upgrade": "the brokers go back to the version of before, one after the other",
      "group.delete": "the offsets are committed again where their partitions are still there",
      "offset.reset": "the offsets that were there are committed again, and commits are removed where there was none",
      "offset.restore": "the offsets that were there are committed again, and commits are removed where there was none",
      "quota.set": "the quotas of before are set again",
      reassignment: "the partitions move back",
      "topic.create": "the topic is deleted, with all that was written to it",
      "topic.retention_lease": "retention.ms goes back at once to what it was before the lease",
      "topic.update": "the settings go back to what they were",
      "user.create": "the user is deleted, with every ACL about it",
      "user.rotate": "the new password is removed, and the old one stays for good",
    },
    final: {
      "acl.create": "what is done stays done",
      "acl.delete": "what is done stays done",
      "broker.restart": "there is nothing to put back",
      "cluster.add_brokers": "what is done stays done",
      "cluster.add_log_directory": "what is done stays done",
      "cluster.change_addresses": "brokers follow their agents: give these the addresses of before, and follow again",
      "cluster.change_zookeeper":
        "brokers follow their agents: give these the connect string of before, and move again",
      "cluster.configure": "what is done stays done",
      "cluster.create": "a cluster that is made can only be deleted",
      "cluster.credentials": "the credentials that are replaced are forgotten",
      "cluster.delete": "what is deleted with it does not come back",
      "cluster.empty_log_directory": "replicas stay where they went",
      "cluster.finalize_version": "brokers do not go back to an older protocol",
      "cluster.register": "a cluster that is registered can only be let go",
      "cluster.remove_brokers": "what is done stays done",
      "cluster.replace_broker": "the broker stays where it is; another plan moves it again",
      "cluster.restart": "there is nothing to put back",
      "cluster.upgrade": "what is done stays done",
      "group.delete": "the group has no offsets that could be committed again",
      "leaders.elect": "an election only chooses the first replica; another leader is made by a reassignment",
      "offset.reset": "what is done stays done",
      "offset.restore": "what is done stays done",
      "quota.set": "what is done stays done",
      reassignment: "what is done stays done",
      "topic.create": "what is done stays done",
      "topic.delete": "the records are gone with the topic",
      "topic.empty": "records that are deleted do not come back",
      "topic.partitions": "partitions can be added, never removed",
      "topic.retention_lease": "what is done stays done",
      "topic.retention_restore": "records that are deleted then do not come back; a new lease keeps those to come",
      "topic.update": "what is done stays done",
      "user.create": "what is done stays done",
      "user.delete": "a user made again has another password",
      "user.retire": "the password that is removed is not known, so it does not come back",
      "user.rotate": "the old password does not come back",
    },
  },
};
