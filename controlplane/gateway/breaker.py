"""When a cluster that does not answer is asked again: a circuit breaker's decisions. Pure.

Closed: every question passes. Open: questions are refused at once until a time. Half-open: one
question passes as the probe, its answer decides; a prober that never came back loses its turn. A
question that has to wait for its failure holds a thread, one that fails at once holds nothing, so
the slow failures open the breaker sooner. The first opening is short: a mistake costs a second.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

from controlplane.common.transitions import Transitions

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half-open"
BREAKER_MOVES = Transitions(
    "breaker",
    {
        CLOSED: frozenset({OPEN}),
        OPEN: frozenset({HALF_OPEN}),
        HALF_OPEN: frozenset({CLOSED, OPEN}),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Bounds of one breaker; times in seconds.

    Attributes:
        slow_s: a failure that took this long has held its thread.
        slow_failures_max: so many slow failures in a row open the breaker,
        failures_max: or so many of any kind,
        failures_span_s: over at least this long.
        open_first_s: how long it is open at first; each probe that fails doubles it,
        open_max_s: up to this,
        open_quick_max_s: or to this while the probes fail at once: they cost nothing, and brokers
            that are just starting refuse like that.
        probe_s: the longest that a probe may take; after that another one may.
        proof_s: a broker that does not answer says nothing of a cluster that answered since then.
    """

    slow_s: float = 1.0
    slow_failures_max: int = 2
    failures_max: int = 3
    failures_span_s: float = 5.0
    open_first_s: float = 1.0
    open_max_s: float = 30.0
    open_quick_max_s: float = 2.0
    probe_s: float = 30.0
    proof_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known of one cluster; times are seconds since 1970.

    Attributes:
        failures: in a row; `slow_failures` of them were slow.
        failing_since_s: when the first of them came; None when there is none.
        answered_at_s: the last answer, also a refusal in Kafka's words; None when none is known.
        until_s: open: when it is asked again; half-open: when the probe counts as lost.
        open_s: how long it was opened for last.
        reason: of the last failure.
    """

    state: str = CLOSED
    failures: int = 0
    slow_failures: int = 0
    failing_since_s: float | None = None
    answered_at_s: float | None = None
    until_s: float = 0.0
    open_s: float = 0.0
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_doubtful(self) -> bool:
        """Whether the next question may well hold its thread until its deadline."""
        return self.state != CLOSED or self.slow_failures > 0


NOTHING_KNOWN = Record()


@dataclass(frozen=True, slots=True)
class Pass:
    is_probe: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    wait_s: float


def ask(record: Record, now_s: float, policy: Policy) -> tuple[Record, Pass | Refuse]:
    """Whether a question may pass now, and the record to keep."""
    if record.state == CLOSED:
        return record, Pass()
    left_s = record.until_s - now_s
    # A time further off than any that is ever written comes from a clock that was wrong.
    if 0 < left_s <= max(policy.open_max_s, policy.probe_s):
        # A probe under way may end at any moment; who waits for all of its time waits too long.
        wait_s = left_s if record.state == OPEN else min(left_s, policy.open_first_s)
        return record, Refuse(wait_s)
    probing = record if record.state == HALF_OPEN else _moved(record, HALF_OPEN)
    return replace(probing, until_s=now_s + policy.probe_s), Pass(is_probe=True)


def answered(record: Record, now_s: float) -> Record:
    """After any answer of the cluster."""
    if record.state == OPEN:  # a question from before came through: ask again at once
        return replace(record, answered_at_s=now_s, until_s=now_s)
    if record.state == HALF_OPEN:
        record = _moved(record, CLOSED)
    return Record(answered_at_s=now_s)


def failed(
    record: Record,
    now_s: float,
    policy: Policy,
    *,
    took_s: float,
    reason: str,
    is_probe: bool,
    is_particular: bool,
) -> Record:
    """After a question without an answer, which took `took_s`; `is_probe` as `ask` said.

    `is_particular`: it was for certain brokers, so the others may well answer.
    """
    if record.state == HALF_OPEN and is_probe:
        limit_s = policy.open_max_s if took_s >= policy.slow_s else policy.open_quick_max_s
        open_s = min(max(record.open_s, policy.open_first_s) * 2, limit_s)
        return _opened(replace(record, failures=record.failures + 1, reason=reason), now_s, open_s)
    if record.state != CLOSED:
        return record  # asked before the breaker opened: it has been counted by others
    proof_s = record.answered_at_s
    if is_particular and proof_s is not None and now_s - proof_s < policy.proof_s:
        return record
    began_s = now_s - took_s
    counted = replace(
        record,
        failures=record.failures + 1,
        slow_failures=record.slow_failures + (took_s >= policy.slow_s),
        failing_since_s=began_s if record.failing_since_s is None else record.failing_since_s,
        reason=reason,
    )
    return (
        _opened(counted, now_s, policy.open_first_s) if _trips(counted, now_s, policy) else counted
    )


def _trips(record: Record, now_s: float, policy: Policy) -> bool:
    if record.slow_failures >= policy.slow_failures_max:
        return True
    since_s = now_s if record.failing_since_s is None else record.failing_since_s
    return record.failures >= policy.failures_max and now_s - since_s >= policy.failures_span_s


def _opened(record: Record, now_s: float, open_s: float) -> Record:
    return replace(_moved(record, OPEN), open_s=open_s, until_s=now_s + open_s)


def _moved(record: Record, state: str) -> Record:
    BREAKER_MOVES.check(record.state, state)
    return replace(record, state=state)
