"""What happened between two readings of a cluster: old rows against new ones. Pure.

What nobody read is no change: a setting that is not known now, or was not before, says nothing.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from controlplane.gateway.types import SET_ON_TOPIC
from controlplane.observed.sections import UNKNOWN, UNREACHABLE

Row = Mapping[str, Any]
CHANGES_A_KIND = 20
"""Of one kind in one pass; what is beyond is counted."""
NAMED_MAX = 20
"""Partitions or settings that one change names."""
TEXT_MAX_CHARS = 200
"""Of one value of a setting."""
HIDDEN = "(not shown)"


class Kind(StrEnum):
    CLUSTER_UNREACHABLE = "cluster-unreachable"
    CLUSTER_ANSWERS = "cluster-answers"
    CONTROLLER_CHANGED = "controller-changed"
    BROKER_DOWN = "broker-down"
    BROKER_UP = "broker-up"
    PARTITIONS_OFFLINE = "partitions-offline"
    PARTITIONS_ONLINE = "partitions-online"
    LEADER_CHANGED = "leader-changed"
    ISR_SHRUNK = "isr-shrunk"
    ISR_GREW = "isr-grew"
    REPLICAS_CHANGED = "replicas-changed"
    PARTITIONS_ADDED = "partitions-added"
    TOPIC_CREATED = "topic-created"
    TOPIC_DELETED = "topic-deleted"
    CONFIG_CHANGED = "config-changed"


class Of(StrEnum):
    """What a change is about."""

    CLUSTER = "cluster"
    BROKER = "broker"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that is otherwise than it was.

    Attributes:
        name: of the topic, or the broker's id; empty: the cluster.
        before, after: by partition (leaders: an id or null; replicas: ids) or by setting (its
            value; null: it is not set); else one value under the name of what it is. At most
            `NAMED_MAX` of them.
        count: partitions or settings of which it holds, those that are not named too.
    """

    kind: Kind
    of: Of
    name: str = ""
    before: Row = field(default_factory=dict)
    after: Row = field(default_factory=dict)
    count: int = 1


@dataclass(slots=True)
class Changes:
    """Those of one pass: the first of each kind, and how many more there were."""

    kept: list[Change] = field(default_factory=list)
    seen: Counter[Kind] = field(default_factory=Counter)

    def add(self, *found: Change) -> None:
        for change in found:
            self.seen[change.kind] += 1
            if self.seen[change.kind] <= CHANGES_A_KIND:
                self.kept.append(change)

    def more(self) -> dict[Kind, int]:
        """How many are not kept, by kind."""
        return {
            kind: count - CHANGES_A_KIND
            for kind, count in self.seen.items()
            if count > CHANGES_A_KIND
        }

    def __bool__(self) -> bool:
        return bool(self.kept)


# -- the cluster ------------------------------------------------------------------------------
def of_cluster(
    *, health: tuple[str, str], controllers: tuple[int | None, int | None]
) -> list[Change]:
    """Each pair is (before, after); a controller that was not read is no change."""
    found = []
    was, is_now = health
    if is_now == UNREACHABLE and was not in {UNREACHABLE, UNKNOWN}:
        found.append(_cluster(Kind.CLUSTER_UNREACHABLE, "health", was, is_now))
    if was == UNREACHABLE and is_now != UNREACHABLE:
        found.append(_cluster(Kind.CLUSTER_ANSWERS, "health", was, is_now))
    if is_now != UNREACHABLE and controllers[0] != controllers[1]:
        found.append(_cluster(Kind.CONTROLLER_CHANGED, "controller", *controllers))
    return found


def _cluster(kind: Kind, what: str, before: Any, after: Any) -> Change:
    return Change(kind=kind, of=Of.CLUSTER, before={what: before}, after={what: after})


def of_broker(before: Row | None, after: Row | None) -> list[Change]:
    """Rows of the list, null: there was none; one that is gone holds no replicas either."""
    was = before is not None and bool(before["live"])
    is_live = after is not None and bool(after["live"])
    if was == is_live:
        return []
    name = str((after or before or {})["id"])
    kind = Kind.BROKER_UP if is_live else Kind.BROKER_DOWN
    return [
        Change(kind=kind, of=Of.BROKER, name=name, before={"live": was}, after={"live": is_live})
    ]


# -- a topic ----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Topic:
    """As the tables have it; see `ObservedTopic`."""

    row: Row
    detail: Row


def of_topic(name: str, before: Topic | None, after: Topic | None) -> list[Change]:
    """What became of one topic; null: it was not there, or is not any more."""
    if before is None or after is None:
        return [*_ended(name, before), *_begun(name, after)]
    if before.row["topic_id"] != after.row["topic_id"] and before.row["topic_id"] is not None:
        return [*_ended(name, before), *_begun(name, after)]
    return [*_partitions(name, before.detail, after.detail), *_settings(name, before, after)]


def _begun(name: str, topic: Topic | None) -> list[Change]:
    if topic is None:
        return []
    return [Change(kind=Kind.TOPIC_CREATED, of=Of.TOPIC, name=name, after=_size(topic))]


def _ended(name: str, topic: Topic | None) -> list[Change]:
    if topic is None:
        return []
    return [Change(kind=Kind.TOPIC_DELETED, of=Of.TOPIC, name=name, before=_size(topic))]


def _size(topic: Topic) -> Row:
    return {name: topic.row[name] for name in ("partitions", "replication_factor")}


Pairs = dict[str, tuple[Any, Any]]


def _partitions(name: str, before: Row, after: Row) -> list[Change]:
    old = {part[0]: part for part in before["partitions"]}
    pairs: dict[Kind, Pairs] = {}
    for number, leader, _, replicas, isr, *_ in after["partitions"]:
        if number not in old:
            continue
        _, was_leader, _, was_replicas, was_isr, *_ = old[number]
        key = str(number)
        if was_leader != leader:
            pairs.setdefault(_kind_of_lead(was_leader, leader), {})[key] = (was_leader, leader)
        if set(was_replicas) != set(replicas):
            # Its in-sync replicas change with it; that is no trouble of theirs.
            pairs.setdefault(Kind.REPLICAS_CHANGED, {})[key] = (was_replicas, replicas)
        elif set(was_isr) - set(isr):
            pairs.setdefault(Kind.ISR_SHRUNK, {})[key] = (was_isr, isr)
        elif set(isr) - set(was_isr):
            pairs.setdefault(Kind.ISR_GREW, {})[key] = (was_isr, isr)
    found = [_of_pairs(kind, name, each) for kind, each in pairs.items()]
    added = len(after["partitions"]) - len(old)
    if added > 0:
        counts = {"partitions": len(old)}, {"partitions": len(after["partitions"])}
        found.append(
            Change(
                kind=Kind.PARTITIONS_ADDED,
                of=Of.TOPIC,
                name=name,
                before=counts[0],
                after=counts[1],
                count=added,
            )
        )
    return found


def _kind_of_lead(before: int | None, after: int | None) -> Kind:
    if after is None:
        return Kind.PARTITIONS_OFFLINE
    return Kind.PARTITIONS_ONLINE if before is None else Kind.LEADER_CHANGED


def _settings(name: str, before: Topic, after: Topic) -> list[Change]:
    old, new = _set_on_topic(before.detail), _set_on_topic(after.detail)
    if old is None or new is None:
        return []
    differing = {
        key: (_value(old.get(key)), _value(new.get(key)))
        for key in sorted({*old, *new})
        if _value(old.get(key)) != _value(new.get(key))
    }
    return [_of_pairs(Kind.CONFIG_CHANGED, name, differing)] if differing else []


def _set_on_topic(detail: Row) -> dict[str, Row] | None:
    """What the topic sets itself: a default of the brokers that changes is no change of it."""
    if detail["configs"] is None:
        return None
    return {row["name"]: row for row in detail["configs"] if row["source"] in SET_ON_TOPIC}


def _value(row: Row | None) -> str | None:
    if row is None:
        return None
    if row["sensitive"] or row["value"] is None:
        return HIDDEN
    return str(row["value"])[:TEXT_MAX_CHARS]


def _of_pairs(kind: Kind, name: str, pairs: Pairs) -> Change:
    named = dict(list(pairs.items())[:NAMED_MAX])
    return Change(
        kind=kind,
        of=Of.TOPIC,
        name=name,
        before={key: was for key, (was, _) in named.items()},
        after={key: is_now for key, (_, is_now) in named.items()},
        count=len(pairs),
    )
