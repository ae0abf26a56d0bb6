"""What plans and their operations do, in one sentence each, by its code: the kind's name, and what
stands behind the first `/` where plans of the kind do another thing.
"""

from collections.abc import Mapping
from typing import Final

_PARTITIONS = "{partitions:one=# partition|other=# partitions}"
_BROKERS = "{brokers:one=# broker|other=# brokers}"
_SETTINGS = "{settings:one=# setting|other=# settings}"
_RULES = "{rules:one=# access rule|other=# access rules}"
_USER = "{user:unknown=every user|other=user #}"
_CLIENT = "{client:unknown=every client id|other=client id #}"
_SIZE = "{size_are:exact=|least=at least }{size_bytes:unknown=an unknown number of bytes}"
_IN_TURN = "one after the other"
_EMPTIED = (
    f"Move {{replicas:one=# replica|other=# replicas}} out of the directory {{directory}} of"
    f" {_BROKERS}"
)
_OFFSETS = (
    f"Move {_PARTITIONS} of {{group}}: {{reread:one=# record|other=# records}} read again,"
    " {skipped} skipped{first_read:none=|other=, # to be read from there on}"
    "{removed:none=|one=, the commit removed in # partition|"
    "other=, the commit removed in # partitions}."
)
_REMOVED = f"Remove the commit of {{group}} in {_PARTITIONS}."
_REPLACED = (
    "broker {broker} where it is, and have another host run it;"
    " {replicas:one=# replica is|other=# replicas are} read anew."
)

SUMMARIES: Final[Mapping[str, str]] = {
    "topic.create": f"Create {{topic}}: {_PARTITIONS}, {{replicas:one=# replica|other=# replicas}}"
    " each.",
    "topic.update": f"Change {_SETTINGS} of {{topic}}.",
    "topic.update/adopted": (
        f"Take over {_SETTINGS} of {{topic}} as the brokers have {{settings:one=it|other=them}}."
    ),
    "topic.partitions": f"Add {_PARTITIONS} to {{topic}}.",
    "topic.partitions/adopted": f"Take over that {{topic}} has {_PARTITIONS}.",
    "topic.delete": "Delete {topic} and its data for good.",
    "topic.empty": (
        "Delete the {records:one=# record|other=# records} of {topic}, and keep the topic."
    ),
    "topic.retention_lease": (
        "Keep the records of {topic} for {kept_ms}, for the next {lasting_s}."
    ),
    "topic.retention_lease/extended": (
        "Extend the lease of {topic}: {kept_ms} of records, for the next {lasting_s}."
    ),
    "topic.retention_restore": (
        "Put the retention of {topic} back to {before_ms:unknown=its default}."
    ),
    "topic.retention_restore/for-ever": "Put the retention of {topic} back to for ever.",
    "user.create": "Create the user {user} with {rules:one=# ACL|other=# ACLs}.",
    "user.delete": "Delete the user {user} and {rules:one=# ACL|other=# ACLs} about it.",
    "user.rotate": "Give {user} a new password.",
    "user.rotate/overlap": (
        "Give {user} a second password, and remove the old one after {overlap_s}."
    ),
    "user.retire": "Remove the password of {user} for {mechanism}.",
    "user.retire/old": (
        "Remove the old password of {user} ({mechanism}); the new one stays, and the overlap is"
        " over."
    ),
    "user.retire/new": (
        "Remove the new password of {user} ({mechanism}); the old one stays, and the overlap is"
        " over."
    ),
    "acl.create": f"Add {_RULES}.",
    "acl.create/adopted": (
        "Take over that {rules:one=# access rule is|other=# access rules are} there."
    ),
    "acl.delete": f"Remove {_RULES}.",
    "acl.delete/adopted": (
        "Take over that {rules:one=# access rule is|other=# access rules are} gone."
    ),
    "quota.set/user": f"Set the quotas of {_USER}.",
    "quota.set/client": f"Set the quotas of {_CLIENT}.",
    "quota.set/client-of-user": f"Set the quotas of {_CLIENT} of {_USER}.",
    "quota.set/adopted-user": f"Take over the quotas of {_USER} as the brokers have them.",
    "quota.set/adopted-client": f"Take over the quotas of {_CLIENT} as the brokers have them.",
    "quota.set/adopted-client-of-user": (
        f"Take over the quotas of {_CLIENT} of {_USER} as the brokers have them."
    ),
    "cluster.create": f"Start {_BROKERS} on {{hosts:one=# host|other=# hosts}}.",
    "cluster.register": f"Govern the cluster at {{addresses}}: {_BROKERS}.",
    "cluster.credentials": "Reach {cluster} at {addresses} by another login.",
    "cluster.delete": f"Delete {_BROKERS} and all their data.",
    "cluster.delete/registered": "Stop governing this cluster; it goes on running.",
    "cluster.configure": f"Change {_SETTINGS} of all brokers, while they run.",
    "cluster.configure/restarts": (
        f"Change {_SETTINGS} of all brokers, with {{restarts:one=# restart|other=# restarts}},"
        f" {_IN_TURN}."
    ),
    "cluster.configure/adopted": f"Take over {_SETTINGS} of all brokers as they are.",
    "cluster.add_brokers": f"Add {{added:one=# broker|other=# brokers}} to {_BROKERS}.",
    "cluster.remove_brokers": (
        "Remove {removed:one=# broker|other=# brokers} of {brokers}; {left} stay."
    ),
    "cluster.restart": f"Stop and start {_BROKERS}, {_IN_TURN}.",
    "broker.restart": (
        f"Stop and start broker {{broker}}, which leads {_PARTITIONS} and holds"
        " {replicas:one=# replica|other=# replicas}."
    ),
    "cluster.upgrade": (
        f"Stop {_BROKERS} and start each of {{release}}, {_IN_TURN}; they go on speaking"
        " {protocol} to each other."
    ),
    "cluster.finalize_version": (
        "Raise what brokers speak to each other from {protocol} to {newest}, with"
        f" {{restarts:one=# restart|other=# restarts}}, {_IN_TURN}."
    ),
    "cluster.replace_broker": f"Stop {_REPLACED}",
    "cluster.replace_broker/given-up": f"Give up {_REPLACED}",
    "cluster.change_addresses": (
        f"Stop {_BROKERS} and start each at the address that its host has now, {_IN_TURN}."
    ),
    "cluster.change_zookeeper": (
        f"Stop {_BROKERS} and start each with the connect string to ZooKeeper that its host's"
        f" agent uses, {_IN_TURN}."
    ),
    "cluster.add_log_directory": (
        f"Give {_BROKERS} the directory {{directory}} for their logs, with a restart of each,"
        f" {_IN_TURN}."
    ),
    "cluster.empty_log_directory": (
        f"{_EMPTIED}, and take it away with a restart of each, {_IN_TURN}."
    ),
    "cluster.empty_log_directory/stays": f"{_EMPTIED}, which go on using it.",
    "reassignment": f"Move {_PARTITIONS}, {_SIZE}.",
    "reassignment/drain": f"Move {_PARTITIONS} off broker {{broker}}, {_SIZE}.",
    "reassignment/factor": (f"Give {_PARTITIONS} a replication factor of {{replicas}}, {_SIZE}."),
    "reassignment/adopted": f"Take over where the replicas of {_PARTITIONS} are.",
    "leaders.elect": f"Let {_PARTITIONS} be led by the broker that they prefer.",
    "offset.reset": _OFFSETS,
    "offset.reset/removed": _REMOVED,
    "offset.restore": _OFFSETS,
    "offset.restore/removed": _REMOVED,
    "group.delete": f"Delete {{group}} and its place in {_PARTITIONS}.",
}
