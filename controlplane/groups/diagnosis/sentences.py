"""From a cause to a sentence and the next step. Pure; every clause is of numbers that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from controlplane.common.words import counted
from controlplane.groups.diagnosis.causes import Found, idle_members
from controlplane.groups.diagnosis.facts import Cause, GroupFacts, Place, Standing
from controlplane.groups.diagnosis.numbers import named, others, printable, rate, records, span
from spark_analytics.contracts.statuses import Risk


@dataclass(frozen=True, slots=True)
class Scene:
    facts: GroupFacts
    standing: Standing
    found: Found
    pace: Found
    """The same, but where records are lost why."""

    @property
    def unread(self) -> str:
        lag = self.standing.lag_records
        topic = self.standing.topic
        return f"unread records of {topic}" if lag is None else f"{records(lag)} of {topic} unread"

    @property
    def members(self) -> str:
        partitions = counted(self.standing.partitions, "partition")
        return f"{counted(self.facts.count, 'member')} for {partitions}"

    @property
    def owner(self) -> str:
        owners = {place.owner for place in self.pace.places if place.owner is not None}
        names = sorted(self.facts.members.get(owner, owner) for owner in owners)
        return printable(names[0]) if len(names) == 1 else ""


def told(scene: Scene) -> tuple[str, str]:
    """(sentence, next step)."""
    text, step = _TELLERS[scene.found.cause](scene)
    return f"{text[0].upper()}{text[1:]}.", step


def _joined(*clauses: str) -> str:
    return ", ".join(clause for clause in clauses if clause)


def _pace(scene: Scene) -> str:
    consumed = scene.standing.consume_records_per_s
    produced = scene.standing.produce_records_per_s
    if consumed is None and produced is None:
        return ""
    if consumed is None or produced is None:
        known = f"{rate(produced)} produced" if produced is not None else ""
        return known or f"consumes {rate(consumed or 0.0)}, what is produced is not known"
    return f"consumes {rate(max(consumed, 0.0))} of {rate(max(produced, 0.0))} produced"


def _expiry(scene: Scene) -> str:
    """When retention takes the first record that is unread now, and the first that stays unread."""
    standing = scene.standing
    if standing.risk is Risk.LOSING:
        return ""
    expires, loss = standing.expires_in_s, standing.first_loss_in_s
    said = "" if expires is None else f"first unread record expires in {span(expires)}"
    if loss is not None and expires is not None and loss > 2 * expires:
        return f"{said}, first loss at this pace in {span(loss)}"
    return said


def _slowly(scene: Scene, *clauses: str) -> str:
    """A sentence about pace: `consumes 14/s of 42/s produced on orders, …`."""
    pace = _pace(scene)
    start = f"{pace} on {scene.standing.topic}" if pace else f"{scene.unread}, pace not known"
    expiry = _expiry(scene)
    text = _joined(start, *clauses)
    return f"{text}; {expiry}" if expiry else text


def _data_lost(scene: Scene) -> tuple[str, str]:
    lost = scene.standing.lost_records
    where = f" ({named(scene.found.places)})" if scene.found.places else ""
    what = records(lost) if lost else "records"
    text = f"has lost {what} of {scene.standing.topic} that expired unread{where}"
    pace = scene.pace.cause
    if pace in _WHY_STILL:
        text = f"{text}; {_WHY_STILL[pace]}"
    _, step = _TELLERS[pace](scene) if pace in _WHY_STILL else ("", "")
    keep = "Keep records longer on the topic (retention.ms) before more of them go"
    return text, f"{keep}, then: {step}" if step else f"{keep}; what is lost does not come back."


_WHY_STILL = {
    Cause.STOPPED: "nobody consumes",
    Cause.STALLED: "its members commit nothing",
    Cause.TOO_FEW_MEMBERS: "it is slower than what is produced",
    Cause.TOO_SLOW: "it is slower than what is produced",
    Cause.SKEWED: "some partitions are slower than what is produced",
    Cause.HOT_PARTITION: "one partition takes most of what is produced",
    Cause.SLOW_MEMBER: "one member is slower than what is produced",
    Cause.NOT_OWNED: "partitions are assigned to nobody",
}


def _stopped(scene: Scene) -> tuple[str, str]:
    produced = scene.standing.produce_records_per_s
    arriving = f"{rate(produced)} produced" if produced else ""
    text = _joined("nobody consumes: no members", scene.unread, arriving)
    expiry = _expiry(scene)
    return (
        f"{text}; {expiry}" if expiry else text,
        (
            "Start the group's consumers. If they should be running, look at why they left: their"
            " own log, or ACLs and quotas of their user."
        ),
    )


def _rebalancing(scene: Scene) -> tuple[str, str]:
    return (
        f"is rebalancing ({scene.facts.state}), so nobody consumes meanwhile, {scene.unread}",
        (
            "Wait for it to end. If it begins again and again, a member takes longer between polls"
            " than max.poll.interval.ms, or members come and go."
        ),
    )


def _not_owned(scene: Scene) -> tuple[str, str]:
    places = scene.pace.places
    one = len(places) == 1
    return (
        (
            f"{_those(places)} {'is' if one else 'are'} assigned to no member"
            f" while {others(scene.pace.others)} {_do(scene, 'is', 'are')} read, {scene.unread}"
        ),
        (
            "Look whether a member still subscribes to the topic. If none should, the commits there"
            " may be left to expire."
        ),
    )


def _do(scene: Scene, one: str, more: str) -> str:
    return one if scene.pace.others == 1 else more


def _those(places: Sequence[Place]) -> str:
    return f"{'partition' if len(places) == 1 else 'partitions'} {named(places)}"


def _stood(places: Iterable[Place]) -> str:
    times = [place.stuck_s for place in places if place.stuck_s is not None]
    return f" for {span(min(times))}" if times else ""


def _stuck_partition(scene: Scene) -> tuple[str, str]:
    places = scene.pace.places
    first, one = places[0], len(places) == 1
    lag = sum(place.lag or 0 for place in places)
    whose = f", of member {scene.owner}" if scene.owner else ""
    at = "" if first.committed is None else f" at offset {first.committed} of {first.name}"
    return (
        (
            f"{_those(places)} {'has' if one else 'have'} stood still{_stood(places)}"
            f" with {records(lag)} unread, while {others(scene.pace.others)}"
            f" {_do(scene, 'moves', 'move')}{whose}"
        ),
        (
            f"Look at the record{at}: one that cannot be processed is tried again and again."
            " Skip it by resetting this partition alone, once the group has stopped."
        ),
    )


def _stuck_member(scene: Scene) -> tuple[str, str]:
    places = scene.pace.places
    lag = sum(place.lag or 0 for place in places)
    return (
        (
            f"member {scene.owner} commits nothing: all of its {counted(len(places), 'partition')}"
            f" ({named(places)}) have stood still{_stood(places)}"
            f" with {records(lag)} unread, while {others(scene.pace.others)}"
            f" {_do(scene, 'moves', 'move')}"
        ),
        "Restart that member, or look at what it waits for: the others take its partitions over.",
    )


def _stalled(scene: Scene) -> tuple[str, str]:
    text = _joined(f"{counted(scene.facts.count, 'member')} but nothing is committed", scene.unread)
    expiry = _expiry(scene)
    return (
        f"{text}; {expiry}" if expiry else text,
        (
            "Look at the members' own log: they are there and hold partitions, but process nothing"
            " or do not commit."
        ),
    )


def _hot_partition(scene: Scene) -> tuple[str, str]:
    hot = scene.pace.places[0]
    total = scene.standing.produce_records_per_s
    mine = hot.produce_records_per_s or 0.0
    share = f"{mine / total:.0%} of what is produced" if total else "most of what is produced"
    return (
        _slowly(scene, f"{hot.name} takes {share} and has {records(hot.lag or 0)} of the lag"),
        (
            "Spread the records' keys: one partition is read by one member only, so more members do"
            " not help."
        ),
    )


def _slow_member(scene: Scene) -> tuple[str, str]:
    places = scene.pace.places
    return (
        _slowly(
            scene,
            f"only the partitions of member {scene.owner} ({named(places)}) fall behind",
            f"{others(scene.pace.others)} {_do(scene, 'keeps', 'keep')} up",
        ),
        "Look at that member's host and load, or restart it: the others take its partitions over.",
    )


def _skewed(scene: Scene) -> tuple[str, str]:
    places = scene.pace.places
    fall = "falls" if len(places) == 1 else "fall"
    keep = f"{others(scene.pace.others)} {_do(scene, 'keeps', 'keep')} up"
    return (
        _slowly(scene, f"only {named(places)} {fall} behind", keep),
        (
            "Compare what these partitions hold with the others: their records cost more, or their"
            " keys are not spread evenly."
        ),
    )


def _alike(scene: Scene) -> str:
    places = [place for place in scene.facts.places if place.topic == scene.standing.topic]
    has_rates = any(place.growth is not None for place in places)
    return "all partitions alike" if has_rates and len(places) > 1 else ""


def _too_few_members(scene: Scene) -> tuple[str, str]:
    most = scene.standing.partitions
    return (
        _slowly(scene, _alike(scene), scene.members),
        f"Add members: up to {most} can share the {counted(most, 'partition')}.",
    )


def _too_slow(scene: Scene) -> tuple[str, str]:
    return (
        _slowly(scene, _alike(scene), scene.members),
        (
            "More members do not help, each partition has one already: make processing faster, or"
            " add partitions to the topic."
        ),
    )


def _rewound(scene: Scene) -> tuple[str, str]:
    eta = scene.standing.eta_s
    read = "" if eta is None else f"read again in {span(eta)} at this pace"
    return (
        _joined("went back to earlier offsets", scene.unread, read),
        (
            "Nothing, if somebody reset it. Otherwise look at whether consumers commit offsets that"
            " they had before."
        ),
    )


def _not_committing(scene: Scene) -> tuple[str, str]:
    return (
        _joined(
            f"{counted(scene.facts.count, 'member')} but no commit in partitions of"
            f" {scene.standing.topic} that hold records"
        ),
        (
            "Look at whether these members commit at all (enable.auto.commit, or commits of their"
            " own), and whether they get through their first batch."
        ),
    )


def _never_committed(scene: Scene) -> tuple[str, str]:
    return f"has committed nothing on {scene.standing.topic}", ""


def _catching_up(scene: Scene) -> tuple[str, str]:
    eta = scene.standing.eta_s
    done = "" if eta is None else f"caught up in {span(eta)} at this pace"
    return _slowly(scene, f"catching up: {scene.unread}", done), ""


def _idle_members(scene: Scene) -> tuple[str, str]:
    idle = idle_members(scene.facts)
    return (
        (
            f"is caught up, {counted(idle, 'member')} of {scene.facts.count}"
            f" {'has' if idle == 1 else 'have'} no partition to read"
        ),
        "Remove members, or add partitions if more of them should share the work.",
    )


def _nobody(_scene: Scene) -> tuple[str, str]:
    return "nobody consumes, and nothing committed so far is unread", ""


def _caught_up(scene: Scene) -> tuple[str, str]:
    behind = scene.standing.lag_s
    age = f"{span(behind)} behind" if behind else ""
    return _joined("is caught up", _pace(scene), age), ""


def _unknown(scene: Scene) -> tuple[str, str]:
    lag = scene.standing.lag_records
    unread = "how much is unread is not known" if lag is None else f"{records(lag)} unread"
    return f"too few samples to say how it does, {unread}", "Wait for a few more samples."


_TELLERS: dict[Cause, Callable[[Scene], tuple[str, str]]] = {
    Cause.DATA_LOST: _data_lost,
    Cause.STOPPED: _stopped,
    Cause.REBALANCING: _rebalancing,
    Cause.NOT_OWNED: _not_owned,
    Cause.STUCK_PARTITION: _stuck_partition,
    Cause.STUCK_MEMBER: _stuck_member,
    Cause.STALLED: _stalled,
    Cause.HOT_PARTITION: _hot_partition,
    Cause.SLOW_MEMBER: _slow_member,
    Cause.SKEWED: _skewed,
    Cause.TOO_FEW_MEMBERS: _too_few_members,
    Cause.TOO_SLOW: _too_slow,
    Cause.REWOUND: _rewound,
    Cause.NOT_COMMITTING: _not_committing,
    Cause.NEVER_COMMITTED: _never_committed,
    Cause.CATCHING_UP: _catching_up,
    Cause.IDLE_MEMBERS: _idle_members,
    Cause.NOBODY: _nobody,
    Cause.CAUGHT_UP: _caught_up,
    Cause.UNKNOWN: _unknown,
}
