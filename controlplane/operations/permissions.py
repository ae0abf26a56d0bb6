"""What an operation needs of who plans, confirms, cancels or undoes it: one table. Pure.

It follows from the table of locks: what an operation excludes others from, it changes. So a kind
has its row by having locks, and a lock that this table does not know needs the whole cluster.
`PERMISSIONS.md` shows the table.
"""

from collections.abc import Mapping

from controlplane.common.grants import Area, Verb
from controlplane.operations.locks import EXCLUSIVE, LOCKS, SHARED, Mode, Resource

WHOLE_CLUSTER = (Area.CLUSTER, Verb.WRITE)
BY_LOCK: Mapping[tuple[Resource, Mode], tuple[Area, Verb]] = {
    (Resource.CLUSTER_NAME, EXCLUSIVE): WHOLE_CLUSTER,
    (Resource.CLUSTER, EXCLUSIVE): WHOLE_CLUSTER,
    (Resource.CLUSTER, SHARED): (Area.OUTLINE, Verb.READ),
    (Resource.PLACEMENT, EXCLUSIVE): WHOLE_CLUSTER,
    (Resource.TOPIC, EXCLUSIVE): (Area.TOPIC, Verb.WRITE),
    # Its settings are changed under a lock of their own; offsets in it are read.
    (Resource.TOPIC, SHARED): (Area.TOPIC, Verb.READ),
    (Resource.TOPIC_CONFIG, EXCLUSIVE): (Area.TOPIC, Verb.WRITE),
    (Resource.GROUP, EXCLUSIVE): (Area.GROUP, Verb.WRITE),
    # Rules about a user do not exclude each other, and all of them are about the cluster's access.
    (Resource.USER, SHARED): (Area.ACCESS, Verb.WRITE),
    (Resource.USER, EXCLUSIVE): (Area.ACCESS, Verb.WRITE),
}
NAMED: Mapping[Area, tuple[Resource, ...]] = {
    Area.TOPIC: (Resource.TOPIC, Resource.TOPIC_CONFIG),
    Area.GROUP: (Resource.GROUP,),
}
"""Areas in which grants go by name, with the locks that give the names."""
_STRENGTH = tuple(Verb)


def row_of(kind: str) -> dict[Area, Verb]:
    """The strongest verb by area. With the whole cluster nothing else is needed."""
    row: dict[Area, Verb] = {}
    for resource, mode in LOCKS[kind].items():
        area, verb = BY_LOCK.get((resource, mode), WHOLE_CLUSTER)
        row[area] = max(verb, row.get(area, verb), key=_STRENGTH.index)
    if Verb.WRITE not in row.values() or Area.CLUSTER in row:
        return dict([WHOLE_CLUSTER])
    return row
