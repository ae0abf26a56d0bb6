"""What becomes of an alert when its rule is asked once more: hysteresis by time. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from controlplane.alerts.rules import Rule, Severity
from controlplane.alerts.states import ACKNOWLEDGED, ALERT_MOVES, FIRING, NONE, PENDING, RESOLVED


class Seen(StrEnum):
    HOLDS = "holds"
    CLEAR = "clear"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An alert as kept.

    Attributes:
        since: since when its condition holds; of a resolved one: holds again; null: it does not.
        clear_since: since when it is gone, while the alert is still raised.
        members: of what it was about when it was raised or acknowledged, to tell what is new.
    """

    state: str = NONE
    severity: Severity = Severity.INFO
    since: datetime | None = None
    clear_since: datetime | None = None
    members: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    before: str
    after: str
    why: str


@dataclass(frozen=True, slots=True)
class Folded:
    """What it is now, and how it came there; `is_worse`: the severity of a raised one rose."""

    held: Held
    moves: tuple[Move, ...] = ()
    is_worse: bool = False


def fold(
    held: Held,
    seen: Seen,
    rule: Rule,
    now: datetime,
    *,
    severity: Severity = Severity.INFO,
    members: Iterable[str] = (),
    why: str = "",
) -> Folded:
    """The next of an alert.

    `unknown` moves nothing: what is raised stays, what is not does not begin, and what seems gone
    has to be gone for `clear_s` anew.
    """
    if seen is Seen.UNKNOWN:
        is_raised = held.state in {FIRING, ACKNOWLEDGED}
        return Folded(replace(held, clear_since=None) if is_raised else held)
    if seen is Seen.CLEAR:
        return _gone(held, rule, now, why)
    return _holding(held, rule, now, severity, frozenset(members))


def _holding(
    held: Held, rule: Rule, now: datetime, severity: Severity, members: frozenset[str]
) -> Folded:
    moves: list[Move] = []
    state = held.state
    # A clock that was set back must not make the wait longer than the rule says.
    since = now if held.since is None or held.since > now else held.since
    if state in {FIRING, ACKNOWLEDGED}:
        return _still(held, since, severity, members)
    if state == NONE:
        state = _moved(moves, state, PENDING, "it holds")
    if now - since >= timedelta(seconds=rule.for_s):
        again = "it holds again" if state == RESOLVED else f"it has held for {rule.for_s:g} s"
        state = _moved(moves, state, FIRING, again)
    found = Held(state=state, severity=severity, since=since, members=members)
    return Folded(found, tuple(moves))


def _still(held: Held, since: datetime, severity: Severity, members: frozenset[str]) -> Folded:
    moves: list[Move] = []
    is_worse = severity.rank > held.severity.rank
    added = members - held.members
    state, known = held.state, held.members
    if state == ACKNOWLEDGED and (is_worse or added):
        why = f"it is {severity} now" if is_worse else f"also {', '.join(sorted(added)[:3])}"
        state = _moved(moves, state, FIRING, why)
    if state == FIRING:
        known = members
    found = Held(state=state, severity=severity, since=since, members=known)
    return Folded(found, tuple(moves), is_worse)


def _gone(held: Held, rule: Rule, now: datetime, why: str) -> Folded:
    moves: list[Move] = []
    if held.state == PENDING:
        return Folded(Held(), (_move(PENDING, NONE, why or "it holds no more"),))
    if held.state not in {FIRING, ACKNOWLEDGED}:
        return Folded(replace(held, since=None))
    clear_since = held.clear_since
    if clear_since is None or clear_since > now:
        clear_since = now
    if not why and now - clear_since < timedelta(seconds=rule.clear_s):
        return Folded(replace(held, clear_since=clear_since))
    _moved(moves, held.state, RESOLVED, why or f"it has been gone for {rule.clear_s:g} s")
    return Folded(Held(state=RESOLVED, severity=held.severity), tuple(moves))


def _moved(moves: list[Move], before: str, after: str, why: str) -> str:
    moves.append(_move(before, after, why))
    return after


def _move(before: str, after: str, why: str) -> Move:
    ALERT_MOVES.check(before, after)
    return Move(before, after, why)
