"""The worst topic speaks for its group: its cause, in one sentence, and what is not known. Pure."""

from __future__ import annotations

from controlplane.common.words import counted
from controlplane.groups.diagnosis.causes import Found, cause_of, is_rebalancing, pace_of
from controlplane.groups.diagnosis.facts import Cause, Diagnosis, GroupFacts, Standing
from controlplane.groups.diagnosis.numbers import records
from controlplane.groups.diagnosis.sentences import Scene, told
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Severity, Status

PARTITIONS_NAMED_MAX = 20
_NO_PACE_NEEDED = frozenset(
    {
        Cause.CAUGHT_UP,
        Cause.IDLE_MEMBERS,
        Cause.NOBODY,
        Cause.NEVER_COMMITTED,
        Cause.NOT_COMMITTING,
        Cause.UNKNOWN,
    }
)


def diagnose(facts: GroupFacts, rules: Rules | None = None) -> Diagnosis:
    rules = rules or Rules()
    if not facts.standings:
        return _unjudged(facts)
    worst = max(facts.standings, key=lambda standing: standing.harm)
    found, pace = cause_of(facts, worst, rules), pace_of(facts, worst, rules)
    text, step = told(Scene(facts, worst, found, pace))
    is_stale = facts.now_ms > worst.stale_after_ms
    return Diagnosis(
        cause=found.cause,
        severity=worst.severity,
        text=text,
        next_step=step,
        unknown=tuple(_unknown(facts, worst, found, is_stale=is_stale)),
        status=worst.status,
        risk=worst.risk,
        topic=worst.topic,
        partitions=tuple(
            place.partition for place in (found.places or pace.places)[:PARTITIONS_NAMED_MAX]
        ),
        as_of_ms=worst.sampled_ms,
        is_stale=is_stale,
    )


def _unjudged(facts: GroupFacts) -> Diagnosis:
    """No verdict: it has no commit that could be judged, or nobody has looked yet."""
    unknown = [*_uncommitted(facts)]
    if facts.lag is not None:
        lag = f", {records(facts.lag)} unread" if facts.lag else ""
        unknown.insert(0, "Nobody has judged its pace yet: that takes a few samples.")
        return Diagnosis(
            cause=Cause.UNKNOWN,
            severity=Severity.UNKNOWN,
            text=f"How it does is not known yet{lag}.",
            unknown=tuple(unknown),
        )
    if facts.count == 0:
        text, step, severity = "Has no members and no commit that counts.", "", Severity.UNKNOWN
    elif is_rebalancing(facts.state):
        text = f"Is rebalancing ({facts.state}) and has committed nothing yet."
        step, severity = "Wait for its first commit.", Severity.UNKNOWN
    else:
        text = f"{counted(facts.count, 'member')}, and nothing was ever committed."
        step = (
            "Look at whether its members commit at all (enable.auto.commit, or commits of their"
            " own): after a restart they begin where auto.offset.reset says."
        )
        severity = Severity.WARNING if facts.uncommitted_records else Severity.UNKNOWN
    return Diagnosis(
        cause=Cause.NEVER_COMMITTED,
        severity=severity,
        text=text,
        next_step=step,
        unknown=tuple(unknown),
        status=Status.NO_COMMIT,
    )


def _unknown(facts: GroupFacts, worst: Standing, found: Found, *, is_stale: bool) -> list[str]:
    said = []
    if is_stale:
        # How old it is says `as_of`: a sentence with that in it is another one each second.
        said.append("A newer sample is overdue; how it does now is not known.")
    needs_pace = found.cause not in _NO_PACE_NEEDED
    rates = (worst.produce_records_per_s, worst.consume_records_per_s)
    if needs_pace and None in rates:
        said.append("Its pace is not known: there are too few samples.")
    if needs_pace and worst.risk is Risk.UNKNOWN:
        said.append("When its unread records expire is not known.")
    mine = [place for place in facts.places if place.topic == worst.topic]
    if needs_pace and mine and worst.by_partition is None:
        said.append("Which partitions are the cause is not known: only their sums are.")
    ends = sum(place.log_end is None for place in facts.places)
    if ends:
        said.append(f"Where {counted(ends, 'partition')} {_ends(ends)} is not known.")
    return [*said, *_uncommitted(facts)]


def _ends(number: int) -> str:
    return "ends" if number == 1 else "end"


def _uncommitted(facts: GroupFacts) -> list[str]:
    number, held = facts.uncommitted_partitions, facts.uncommitted_records
    if not number or held == 0:
        return []
    have = "has" if number == 1 else "have"
    most = "an unknown number of records" if held is None else f"up to {records(held)}"
    return [
        (
            f"{counted(number, 'partition')} {have} no commit: its consumers read {most} there with"
            " auto.offset.reset=earliest, none with latest. The setting is theirs, brokers do not"
            " know it."
        )
    ]
