"""Which operations exclude each other: one table of locks, shared and exclusive. Pure.

A kind takes all its locks when its plan is confirmed, or none: then the plan is refused, and may be
confirmed again when the holder has ended. They are held until the operation has ended, with
whatever it rolls back. `LOCKS.md` shows the table and what follows from it.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple


class Resource(StrEnum):
    """What a lock is on. A lock without a name is on the one such thing that a cluster has."""

    CLUSTER_NAME = "cluster-name"
    """A name that a cluster of the tenant has or gets."""
    CLUSTER = "cluster"
    PLACEMENT = "placement"
    """Which brokers hold the cluster's replicas."""
    TOPIC = "topic"
    """That there is this topic, with these partitions."""
    TOPIC_CONFIG = "topic-config"
    """A topic's settings: they change while its replicas move."""
    GROUP = "group"
    USER = "user"
    ACL = "acl"
    """One rule: whether it is there."""


class Mode(StrEnum):
    SHARED = "shared"
    """With any number of others that take it shared."""
    EXCLUSIVE = "exclusive"
    """With nobody."""


SHARED, EXCLUSIVE = Mode.SHARED, Mode.EXCLUSIVE

_NEW_CLUSTER = {Resource.CLUSTER_NAME: EXCLUSIVE, Resource.CLUSTER: EXCLUSIVE}
_WHOLE_TOPIC = {Resource.CLUSTER: SHARED, Resource.TOPIC: EXCLUSIVE}
_TOPIC_CONFIG = {
    Resource.CLUSTER: SHARED,
    Resource.TOPIC: SHARED,
    Resource.TOPIC_CONFIG: EXCLUSIVE,
}
_USER = {Resource.CLUSTER: SHARED, Resource.USER: EXCLUSIVE}
_ACLS = {Resource.CLUSTER: SHARED, Resource.USER: SHARED, Resource.ACL: EXCLUSIVE}
_OFFSETS = {Resource.CLUSTER: SHARED, Resource.GROUP: EXCLUSIVE, Resource.TOPIC: SHARED}

LOCKS: Mapping[str, Mapping[Resource, Mode]] = {
    "cluster.create": _NEW_CLUSTER,
    "cluster.register": _NEW_CLUSTER,
    "cluster.credentials": {Resource.CLUSTER: EXCLUSIVE},
    "cluster.delete": {Resource.CLUSTER: EXCLUSIVE},
    # What else is away meanwhile, or moves, would not have been counted.
    "broker.restart": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.configure": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.replace_broker": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.restart": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.add_brokers": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.add_log_directory": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    # A replica that comes into it meanwhile is moved too, and keeps the directory.
    "cluster.empty_log_directory": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    # A topic that is made meanwhile would be put on brokers that leave.
    "cluster.remove_brokers": {Resource.CLUSTER: EXCLUSIVE},
    "cluster.upgrade": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.finalize_version": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.change_addresses": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    "cluster.change_zookeeper": {Resource.CLUSTER: SHARED, Resource.PLACEMENT: EXCLUSIVE},
    # Replicas that move, or a broker that is away, would make other leaders meanwhile.
    "leaders.elect": {
        Resource.CLUSTER: SHARED,
        Resource.PLACEMENT: EXCLUSIVE,
        Resource.TOPIC: SHARED,
    },
    "topic.create": _WHOLE_TOPIC,
    "topic.update": _TOPIC_CONFIG,
    "topic.retention_lease": _TOPIC_CONFIG,
    "topic.retention_restore": _TOPIC_CONFIG,
    "topic.partitions": _WHOLE_TOPIC,
    "topic.delete": _WHOLE_TOPIC,
    "topic.empty": _WHOLE_TOPIC,
    "reassignment": {
        Resource.CLUSTER: SHARED,
        Resource.PLACEMENT: EXCLUSIVE,
        Resource.TOPIC: SHARED,
    },
    "offset.reset": _OFFSETS,
    "offset.restore": _OFFSETS,
    "group.delete": {Resource.CLUSTER: SHARED, Resource.GROUP: EXCLUSIVE},
    "user.create": _USER,
    "user.rotate": _USER,
    "user.retire": _USER,
    "user.delete": _USER,
    "acl.create": _ACLS,
    "acl.delete": _ACLS,
    "quota.set": _USER,
}


class Lock(NamedTuple):
    """One lock, wanted or held."""

    scope: str
    """The cluster's id, for a cluster's name the tenant's."""
    resource: Resource
    name: str
    mode: Mode

    def __str__(self) -> str:
        return f"the {self.resource.replace('-', ' ')} {self.name}".rstrip()


def are_compatible(one: Mode, other: Mode) -> bool:
    """Whether two operations may hold the same thing at once."""
    return one is SHARED and other is SHARED


def in_the_way(wanted: Iterable[Lock], held: Iterable[Lock]) -> Lock | None:
    """One of those held that refuses one of those wanted."""
    modes = {lock[:3]: lock.mode for lock in wanted}
    for lock in held:
        mode = modes.get(lock[:3])
        if mode is not None and not are_compatible(mode, lock.mode):
            return lock
    return None
