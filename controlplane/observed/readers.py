"""Who reads the tables of a cluster: rows, values and reasons cut to what their grants cover.

It cuts what was observed as `gateway.scoped` cuts the truth. Nothing of the tables is selected
without a `Reader`, and the names are cut by the database, before anything is counted or paged.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, Value
from django.db.models.functions import Left
from django.db.models.lookups import Exact

from controlplane.common.grants import Area, Match, Pattern, Scope, Verb
from controlplane.common.problems import Forbidden
from controlplane.observed.sections import (
    ACLS,
    BROKERS,
    GROUPS,
    QUOTAS,
    REASSIGNMENTS,
    TOPICS,
    USERS,
)

AREAS = {
    BROKERS: Area.OUTLINE,
    TOPICS: Area.TOPIC,
    GROUPS: Area.GROUP,
    USERS: Area.ACCESS,
    ACLS: Area.ACCESS,
    QUOTAS: Area.ACCESS,
    REASSIGNMENTS: Area.OUTLINE,
}
NAMED = frozenset({TOPICS, GROUPS})
"""Sections of which a reader may see some rows and not others."""
REFUSALS = {
    USERS: "Users are seen with a role on the whole cluster.",
    ACLS: "Access rules are seen with a role on the whole cluster.",
    QUOTAS: "Quotas are seen with a role on the whole cluster.",
}
NOTHING = Q(pk__in=[])

# What a reader of a part learns of why something is old. The whole reasons count partitions and
# topics, and repeat what a broker said, of others' too.
NOT_ALL = "not all of it could be read"
NOT_READ = "its coordinator could not be asked"
AWAY = "the cluster did not answer"
REFUSED = "the cluster refused"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody with a scope before one cluster, whose tenant has been checked."""

    scope: Scope
    cluster_id: str
    cluster_name: str

    @property
    def sees_whole(self) -> bool:
        return self.scope.sees(Area.CLUSTER, self.cluster_name)

    @property
    def sees_all_topics(self) -> bool:
        return _is_any(self._patterns(Area.TOPIC))

    def require(self, section: str) -> None:
        """Refuse a section that is seen as a whole or not at all.

        Raises:
            Forbidden: the reader does not see it.
        """
        if not self.may_see(section):
            raise Forbidden(REFUSALS.get(section, "The cluster is seen with a grant on it."))

    def may_see(self, section: str) -> bool:
        """Whether the reader sees a section, or may see some of its rows."""
        return section in NAMED or self.scope.sees(AREAS[section], self.cluster_name)

    def covers(self, section: str, name: str) -> bool:
        return self.scope.sees(AREAS[section], self.cluster_name, name)

    def sees_topic(self, name: str) -> bool:
        return self.covers(TOPICS, name)

    def names(self, section: str) -> Q:
        """What of the rows' keys the reader sees: as `covers`, by the database."""
        if section not in NAMED:
            return Q()
        patterns = self._patterns(AREAS[section])
        found = Q()
        for layer in patterns:
            if not _is_any((layer,)):
                found &= _any_of(layer)
        return found

    def _patterns(self, area: Area) -> tuple[tuple[Pattern, ...], ...]:
        return self.scope.patterns(Verb.READ, area, self.cluster_name)


def _is_any(layers: Iterable[Iterable[Pattern]]) -> bool:
    return all(any(pattern.match is Match.ANY for pattern in layer) for layer in layers)


def _any_of(layer: Iterable[Pattern]) -> Q:
    found = NOTHING
    for pattern in layer:
        if not pattern.name:
            continue  # an empty name covers nothing
        if pattern.match is Match.LITERAL:
            found |= Q(key=pattern.name)
        else:
            # Not LIKE: that folds letters on SQLite.
            found |= Q(Exact(Left("key", len(pattern.name)), Value(pattern.name)))
    return found


# -- content --------------------------------------------------------------------------------
def group_part(
    reader: Reader, row: Mapping[str, Any], detail: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """A group's row and detail with the topics that the reader sees, and the lag in those.

    The lag is null while the end of a partition of theirs is not known.
    """
    offsets = [offset for offset in detail["offsets"] if reader.sees_topic(offset[0])]
    lags = [
        None if end is None else max(end - committed, 0)
        for _, _, committed, _, end, _ in offsets
        # Without an end but with a lag of the whole, the topic is gone, and no part of it.
        if committed is not None and (end is not None or row["lag"] is None)
    ]
    members = [
        {
            **member,
            "partitions": [
                part for part in member["partitions"] if reader.sees_topic(part["topic"])
            ],
        }
        for member in detail["members"]
    ]
    unstarted = [
        None if start is None or end is None else end - start
        for _, _, committed, start, end, _ in offsets
        if committed is None
    ]
    cut = {
        "topics": [name for name in row["topics"] if reader.sees_topic(name)],
        "lag": _sum(lags) if lags else None,
        "uncommitted_partitions": len(unstarted),
        "uncommitted_records": _sum(unstarted),
    }
    return {**row, **cut}, {"members": members, "offsets": offsets}


def _sum(values: Collection[int | None]) -> int | None:
    """Null when a part of it is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


@dataclass(slots=True)
class Part:
    """What a reader's own topics come to; their bytes on each replica are in no table."""

    topics: int = 0
    partitions: int = 0
    under_replicated: int = 0
    offline: int = 0
    leaders: Counter[int] = field(default_factory=Counter)
    replicas: Counter[int] = field(default_factory=Counter)

    def add(self, detail: Mapping[str, Any]) -> None:
        self.topics += 1
        for _, leader, _, replicas, isr, *_ in detail["partitions"]:
            self.partitions += 1
            self.replicas.update(replicas)
            if leader is None:
                self.offline += 1
                continue
            self.leaders[leader] += 1
            self.under_replicated += len(isr) < len(replicas)

    def summary(self) -> dict[str, int | None]:
        return {
            "topics": self.topics,
            "partitions": self.partitions,
            "under_replicated": self.under_replicated,
            "offline": self.offline,
            "size_bytes": None,
        }
