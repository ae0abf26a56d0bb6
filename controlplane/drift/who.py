"""Who made a difference, as far as anybody wrote it down. Pure.

An operation of this service that did not come to a verified end may have; a broker's audit log
says which principal changed what, from where. What neither has is unknown, and so is what a log
that could not be read may have. Between when it was last seen as it was left and when it was first
seen otherwise, somebody did it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from controlplane.common.hashing import canonical_json
from controlplane.common.times import iso, iso_of_ms
from controlplane.drift.differences import ACL, QUOTA, REPLICAS, SETTING, TOPIC, USER, Difference
from controlplane.gateway.types import QUOTA_CLIENT_ID, QUOTA_USER
from controlplane.observed.drift_sentences import unread_said
from controlplane.observed.sightings import BY_OPERATION, BY_PRINCIPAL, UNKNOWN

CLOCKS_MAY_DIFFER: Final = timedelta(seconds=30)
"""Hosts write by their own clocks."""
KINDS: Final[Mapping[str, frozenset[str]]] = {
    SETTING: frozenset({"cluster.configure"}),
    QUOTA: frozenset({"quota.set"}),
    REPLICAS: frozenset({"reassignment"}),
    TOPIC: frozenset({"topic.create", "topic.update", "topic.partitions", "reassignment"}),
    USER: frozenset({"user.create", "user.rotate", "user.retire", "user.delete"}),
    ACL: frozenset({"user.create", "user.delete", "acl.create", "acl.delete"}),
}
ROLLS: Final = frozenset({"cluster.restart", "cluster.upgrade", "broker.restart"})
"""While brokers start, some go by their files of before."""
MOVES_BROKERS: Final = frozenset({"cluster.replace_broker"})
PARTITIONS, FACTOR = "partitions", "replication_factor"
_KEYS_IN: Final[Mapping[str, str]] = {
    "cluster.configure": "config",
    "quota.set": "quotas",
    "topic.update": "configs",
}
"""Which of a kind's inputs has the keys that it sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An operation of ours that has not ended, or ended without having been verified.

    Of its plan, which may name thousands of partitions, what is asked of each difference.

    Attributes:
        keys: of the settings or quotas that it sets.
        topics: whose replicas it moves.
        rules: that it makes or deletes, each as its canonical text.
    """

    id: str
    kind: str
    actor: str
    at: datetime
    resource: str
    keys: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()


def tried_as(
    *,
    id: str,  # noqa: A002 - the operation's
    kind: str,
    actor: str,
    at: datetime,
    resource: str,
    inputs: Mapping[str, Any],
    diff: Mapping[str, Any],
) -> Tried:
    """Of an operation and its plan."""
    rows = diff.get("partitions") or [] if kind == "reassignment" else []
    rules = _rules_of(kind, inputs, diff) if kind in KINDS[ACL] else []
    return Tried(
        id=id,
        kind=kind,
        actor=actor,
        at=at,
        resource=resource,
        keys=frozenset(inputs.get(_KEYS_IN[kind]) or ()) if kind in _KEYS_IN else frozenset(),
        topics=frozenset(row["topic"] for row in rows if "topic" in row),
        rules=frozenset(canonical_json(rule) for rule in rules),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A line of a broker's audit log."""

    at_ms: int
    principal: str
    host: str
    operation: str
    resource: str
    detail: str
    broker: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """`equal_at`: last seen as it was left, null: not known; `seen_at`: first seen otherwise."""

    equal_at: datetime | None
    seen_at: datetime


def who_of(
    difference: Difference,
    window: Window,
    *,
    tried: Iterable[Tried],
    changes: Iterable[Change],
    unread: Mapping[str, Any],
) -> dict[str, Any]:
    """{by, actor, operation_id, at, host, text}, and what `unread_said` says.

    `tried` and `changes` are the cluster's; those that are not about it are passed over. `unread`
    is why audit logs may have more, of an author that is not known.
    """
    own = [each for each in tried if is_about(difference, each) and _is_in(window, each.at)]
    if own:
        last = max(own, key=lambda each: each.at)
        return _who(
            BY_OPERATION,
            f"{last.actor}, by an operation that did not succeed",
            actor=last.actor,
            operation_id=last.id,
            at=iso(last.at),
        )
    made = [
        each for each in changes if _is_in_ms(window, each.at_ms) and _has_made(difference, each)
    ]
    if made:
        newest = max(made, key=lambda each: each.at_ms)
        return _who(
            BY_PRINCIPAL,
            f"{newest.principal} from {newest.host}, by the audit log of broker {newest.broker}",
            actor=newest.principal,
            host=newest.host,
            at=iso_of_ms(newest.at_ms),
        )
    return unknown(window, unread)


def unknown(window: Window, unread: Mapping[str, Any] | None = None) -> dict[str, Any]:
    since = f" since {iso(window.equal_at)}" if window.equal_at is not None else ""
    text = f"unknown: changed outside of Penstock{since}"
    return _who(UNKNOWN, text, **(unread or {}))


def _who(by: str, text: str, **more: Any) -> dict[str, Any]:
    found = {"by": by, "actor": None, "operation_id": None, "at": None, "host": None}
    return {**found, **unread_said(), "text": text, **more}


def _is_in(window: Window, at: datetime) -> bool:
    after = window.equal_at is None or at >= window.equal_at
    return after and at <= window.seen_at + CLOCKS_MAY_DIFFER


def _is_in_ms(window: Window, at_ms: int) -> bool:
    slack = CLOCKS_MAY_DIFFER.total_seconds()
    begins_s = 0.0 if window.equal_at is None else window.equal_at.timestamp() - slack
    return begins_s <= at_ms / 1_000 <= window.seen_at.timestamp() + slack


# -- an operation of ours -----------------------------------------------------------------------
def is_under_way(difference: Difference, tried: Tried) -> bool:
    """Whether an operation that has not ended makes it otherwise, or may."""
    if difference.area == SETTING and tried.kind in ROLLS:
        return True
    if difference.area == REPLICAS and tried.kind in MOVES_BROKERS:
        return True
    return is_about(difference, tried)


def kinds_about(differences: Iterable[Difference]) -> frozenset[str]:
    """Of operations that may hold one of these: `is_under_way` is false of all others."""
    areas = {each.area for each in differences}
    found: set[str] = set().union(*(KINDS[area] for area in areas))
    if SETTING in areas:
        found |= ROLLS
    if REPLICAS in areas:
        found |= MOVES_BROKERS
    return frozenset(found)


def is_about(difference: Difference, tried: Tried) -> bool:
    return tried.kind in KINDS[difference.area] and _ABOUT[difference.area](difference, tried)


def _about_setting(difference: Difference, tried: Tried) -> bool:
    return difference.name in tried.keys


def _about_quota(difference: Difference, tried: Tried) -> bool:
    return tried.resource == f"quota/{difference.name}" and difference.field in tried.keys


def _about_replicas(difference: Difference, tried: Tried) -> bool:
    return difference.name in tried.topics


def _about_topic(difference: Difference, tried: Tried) -> bool:
    if tried.kind == "reassignment":
        return difference.field == FACTOR and _about_replicas(difference, tried)
    return tried.resource == f"topic/{difference.name}" and _changes(tried, difference.field)


def _about_user(difference: Difference, tried: Tried) -> bool:
    return tried.resource == f"user/{difference.name}"


def _about_rule(difference: Difference, tried: Tried) -> bool:
    return canonical_json(_rule_of(difference)) in tried.rules


_ABOUT: Final[Mapping[str, Callable[[Difference, Tried], bool]]] = {
    SETTING: _about_setting,
    QUOTA: _about_quota,
    REPLICAS: _about_replicas,
    TOPIC: _about_topic,
    USER: _about_user,
    ACL: _about_rule,
}


def _changes(tried: Tried, field: str) -> bool:
    if tried.kind == "topic.update":
        return field in tried.keys
    return tried.kind == "topic.create" or field == PARTITIONS


def _rules_of(
    kind: str, inputs: Mapping[str, Any], diff: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    if kind == "user.create":
        return list(inputs.get("acls") or [])
    if kind == "user.delete":
        return list((diff.get("before") or {}).get("acls") or [])
    return list(inputs.get("bindings") or [])


def _rule_of(difference: Difference) -> Mapping[str, Any]:
    plan = difference.back or difference.adopt or {}
    bindings: Sequence[Mapping[str, Any]] = plan.get("inputs", {}).get("bindings") or [{}]
    return bindings[0]


# -- a line of an audit log ---------------------------------------------------------------------
def _has_made(difference: Difference, change: Change) -> bool:
    return _MADE[difference.area](difference, change)


def _made_setting(difference: Difference, change: Change) -> bool:
    is_its = change.operation == "ALTER_CONFIGS" and change.resource.startswith("Broker:")
    return is_its and difference.name in _keys(change)


def _made_quota(difference: Difference, change: Change) -> bool:
    is_its = change.operation == "ALTER_QUOTAS" and difference.field in _keys(change)
    return is_its and _quota_of(change.resource) == _quota_parts(difference)


def _made_replicas(difference: Difference, change: Change) -> bool:
    return change.operation == "REASSIGN" and _topic_of(change.resource) == difference.name


def _made_topic(difference: Difference, change: Change) -> bool:
    if difference.field == FACTOR and _made_replicas(difference, change):
        return True
    if change.resource != f"Topic:{difference.name}":
        return False
    if change.operation == "ALTER_CONFIGS":
        return difference.field in _keys(change)
    is_more = change.operation == "ALTER" and difference.field == PARTITIONS
    return is_more or change.operation in {"CREATE", "DELETE"}


def _made_user(difference: Difference, change: Change) -> bool:
    is_its = change.operation in {"SET_CREDENTIAL", "DELETE_CREDENTIAL"}
    return is_its and change.resource == f"User:{difference.name}"


def _made_rule(difference: Difference, change: Change) -> bool:
    rule = _rule_of(difference)
    if not rule or change.operation not in {"CREATE_ACL", "DELETE_ACL"}:
        return False
    named = f"{rule['resource_type']}:{rule['pattern_type']}:{rule['resource_name']}"
    said = f"{rule['permission']} {rule['operation']} to {rule['principal']} from {rule['host']}"
    return (change.resource, change.detail) == (named, said)


_MADE: Final[Mapping[str, Callable[[Difference, Change], bool]]] = {
    SETTING: _made_setting,
    QUOTA: _made_quota,
    REPLICAS: _made_replicas,
    TOPIC: _made_topic,
    USER: _made_user,
    ACL: _made_rule,
}


def _keys(change: Change) -> list[str]:
    return change.detail.split(",")


def _topic_of(resource: str) -> str:
    kind, _, rest = resource.partition(":")
    return rest.rpartition("-")[0] if kind == "Partition" else ""


def _quota_of(resource: str) -> list[str]:
    kind, _, rest = resource.partition(":")
    return sorted(rest.split(",")) if kind == "Quota" else []


def _quota_parts(difference: Difference) -> list[str]:
    """As the log names it, whatever the order in which its client did."""
    inputs = (difference.back or {}).get("inputs", {})
    return sorted(
        f"{kind}={inputs[field] or '<default>'}"
        for kind, field in ((QUOTA_USER, "user"), (QUOTA_CLIENT_ID, "client_id"))
        if field in inputs
    )
