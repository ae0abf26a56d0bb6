"""Kinds of events, what each says, who may read it, and in which order they stand. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from controlplane.common.grants import Area
from controlplane.common.words import counted
from controlplane.observed.changes import Change, Changes, Kind, Of

Row = Mapping[str, Any]

DEPLOYMENT = "deployment"
OPERATION_BEGAN, OPERATION_ENDED = "operation-began", "operation-ended"
OPERATION_UNDONE = "operation-undone"
ALERT_FIRED, ALERT_RESOLVED = "alert-fired", "alert-resolved"
OBSERVED_KINDS = tuple(str(kind) for kind in Kind)
OF_OPERATIONS = (OPERATION_BEGAN, OPERATION_ENDED, OPERATION_UNDONE)
OF_ALERTS = (ALERT_FIRED, ALERT_RESOLVED)
KINDS = (*OBSERVED_KINDS, DEPLOYMENT, *OF_OPERATIONS, *OF_ALERTS)
KIND_CHOICES = [(kind, kind) for kind in KINDS]
STORED_CHOICES = [(kind, kind) for kind in (*OBSERVED_KINDS, DEPLOYMENT)]
"""What has rows of its own; operations and alerts have theirs."""

GOOD, BAD, WARN, NEUTRAL = "good", "bad", "warn", "neutral"
TONES = [GOOD, BAD, WARN, NEUTRAL]
_TONES: Mapping[str, str] = {
    Kind.CLUSTER_UNREACHABLE: BAD,
    Kind.CLUSTER_ANSWERS: GOOD,
    Kind.CONTROLLER_CHANGED: WARN,
    Kind.BROKER_DOWN: BAD,
    Kind.BROKER_UP: GOOD,
    Kind.PARTITIONS_OFFLINE: BAD,
    Kind.PARTITIONS_ONLINE: GOOD,
    Kind.ISR_SHRUNK: WARN,
    Kind.ISR_GREW: GOOD,
    Kind.TOPIC_DELETED: WARN,
}

TEXT_MAX_CHARS = 200
"""Of a deployment's text."""
BACKDATED_MAX = timedelta(hours=24)
CLOCKS_APART = timedelta(minutes=1)
"""A client's clock may be ahead by so much; its deployment is then of now."""
PARTITIONS_SAID = 5
SUBJECTS_MAX = 10
"""That one question may name."""
CLUSTER_SUBJECT = "cluster"
"""Asks for what is about the cluster as a whole and its brokers."""


class Place(NamedTuple):
    """Where an event stands among all: newest first, and one order at one moment.

    Attributes:
        source: which list of events it is from, a letter; after it the id counts.
    """

    at: datetime
    source: str
    id: str


def tone_of(kind: str) -> str:
    return _TONES.get(kind, NEUTRAL)


# -- what was observed ------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """An event that is stored.

    Attributes:
        area, name: what somebody has to see to read it.
        subject: `topic/…`, `broker/…`; empty: the cluster.
        more: it stands for `count` changes of the kind that are not kept one by one.
    """

    kind: str
    area: Area
    name: str = ""
    subject: str = ""
    before: Row
    after: Row
    count: int = 1
    more: bool = False


def noted(changes: Changes) -> list[Noted]:
    """What is kept of a pass: a bounded number of each kind, and one for all the rest of it.

    Of one moment the causes are first: what befell the cluster and its brokers, then what followed.
    """
    found = [_noted(change) for change in changes.kept]
    found += [
        Noted(kind=kind, area=Area.OUTLINE, before={}, after={}, count=count, more=True)
        for kind, count in changes.more().items()
    ]
    return sorted(found, key=lambda each: OBSERVED_KINDS.index(each.kind))


def _noted(change: Change) -> Noted:
    is_topic = change.of is Of.TOPIC
    return Noted(
        kind=change.kind,
        area=Area.TOPIC if is_topic else Area.OUTLINE,
        name=change.name if is_topic else "",
        subject=f"{change.of}/{change.name}" if change.name else "",
        before=change.before,
        after=change.after,
        count=change.count,
    )


# -- words ------------------------------------------------------------------------------------
_MORE: Mapping[str, str] = {
    Kind.BROKER_DOWN: "more brokers left the cluster",
    Kind.BROKER_UP: "more brokers came into the cluster",
    Kind.PARTITIONS_OFFLINE: "more topics lost leaders",
    Kind.PARTITIONS_ONLINE: "more topics got their leaders back",
    Kind.LEADER_CHANGED: "more topics changed leaders",
    Kind.ISR_SHRUNK: "more topics lost in-sync replicas",
    Kind.ISR_GREW: "more topics regained in-sync replicas",
    Kind.REPLICAS_CHANGED: "more topics got other replicas",
    Kind.PARTITIONS_ADDED: "more topics got partitions",
    Kind.TOPIC_CREATED: "more topics were created",
    Kind.TOPIC_DELETED: "more topics were deleted",
    Kind.CONFIG_CHANGED: "more topics changed their configuration",
}


def more_text(kind: str, count: int | None) -> str:
    """Of what is not kept one by one; null: the reader may not know how many."""
    what = _MORE.get(kind, f"more events of the kind {kind}")
    number = "Some" if count is None else f"{count:,}"
    return f"{number} {what} at the same time."


def text_of(kind: str, subject: str, before: Row, after: Row, count: int) -> str:
    """One plain sentence about a change that was observed."""
    area, _, name = subject.partition("/")
    if area == Of.BROKER:
        word = "came into" if kind == Kind.BROKER_UP else "left"
        return f"Broker {name} {word} the cluster."
    if area == Of.TOPIC:
        return _of_topic(kind, name, before, after, count)
    if kind == Kind.CONTROLLER_CHANGED:
        return _of_controller(before.get("controller"), after.get("controller"))
    if kind == Kind.CLUSTER_UNREACHABLE:
        return "The cluster did not answer any more."
    return "The cluster answers again."


def _of_controller(before: Any, after: Any) -> str:
    if after is None:
        return f"No broker is controller; it was broker {before}."
    was = f"; it was broker {before}" if before is not None else ""
    return f"Broker {after} became controller{was}."


def _of_topic(kind: str, name: str, before: Row, after: Row, count: int) -> str:
    if kind == Kind.TOPIC_CREATED:
        factor = after.get("replication_factor")
        of = f", replication factor {factor}" if factor is not None else ""
        return f"Topic {name} was created: {counted(after.get('partitions', 0), 'partition')}{of}."
    if kind == Kind.TOPIC_DELETED:
        return f"Topic {name} was deleted: {counted(before.get('partitions', 0), 'partition')}."
    if kind == Kind.PARTITIONS_ADDED:
        return f"Topic {name} got {counted(count, 'partition')}, now {after.get('partitions')}."
    if kind in {Kind.ISR_SHRUNK, Kind.ISR_GREW}:
        brokers = _movers(before, after, count)
        if brokers:
            verb = "left" if kind == Kind.ISR_SHRUNK else "came into"
            noun = "broker" if len(brokers) == 1 else "brokers"
            of = counted(count, "partition")
            return f"Topic {name}: {noun} {_ids(brokers)} {verb} the in-sync replicas of {of}."
    if kind == Kind.CONFIG_CHANGED:
        said = "; ".join(f"{key} {_value(before[key])} → {_value(after[key])}" for key in after)
        return f"Configuration of topic {name} changed: {said}{_rest(count, len(after))}."
    return f"Topic {name}: {_partitions(kind, before, after, count)}."


def _movers(before: Row, after: Row, count: int) -> list[int]:
    """The brokers by which the in-sync replicas differ, where that is the same everywhere."""
    found = {frozenset({*before[key]} ^ {*after[key]}) for key in after}
    return sorted(found.pop()) if len(found) == 1 and len(after) == count else []


def _value(value: Any) -> str:
    return "not set" if value is None else str(value)


_CHANGED: Mapping[str, str] = {
    Kind.LEADER_CHANGED: "leader changed",
    Kind.PARTITIONS_OFFLINE: "no leader any more",
    Kind.PARTITIONS_ONLINE: "has a leader again",
    Kind.ISR_SHRUNK: "in-sync replicas shrank",
    Kind.ISR_GREW: "in-sync replicas grew",
    Kind.REPLICAS_CHANGED: "replicas changed",
}


def _partitions(kind: str, before: Row, after: Row, count: int) -> str:
    shown = list(after)[:PARTITIONS_SAID]
    said = ", ".join(f"{key} ({_ids(before[key])} → {_ids(after[key])})" for key in shown)
    noun = "partition" if count == 1 else "partitions"
    return f"{_CHANGED.get(kind, kind)} on {noun} {said}{_rest(count, len(shown))}"


def _rest(count: int, shown: int) -> str:
    return f" and {count - shown} more" if count > shown else ""


def _ids(value: Any) -> str:
    if value is None:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


# -- what operations and alerts say -----------------------------------------------------------
_ENDS: Mapping[str, str] = {"succeeded": "Done", "failed": "Failed", "cancelled": "Cancelled"}


def operation_text(kind: str, state: str, summary: str) -> str:
    """`summary` is the plan's sentence."""
    if kind == OPERATION_BEGAN:
        return f"Begun: {summary}"
    if kind == OPERATION_UNDONE:
        return f"Undone: {summary}"
    return f"{_ENDS.get(state, state.capitalize())}: {summary}"


def operation_tone(kind: str, state: str) -> str:
    if kind == OPERATION_BEGAN:
        return NEUTRAL
    return {"failed": BAD, "cancelled": WARN}.get(state, NEUTRAL)


def alert_text(title: str, summary: str, *, has_fired: bool) -> str:
    said = f"{title}: {summary}" if summary else title
    return f"Alert fired. {said}" if has_fired else f"Alert resolved. {said}"
