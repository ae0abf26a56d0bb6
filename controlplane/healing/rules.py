"""What is to be done about a cluster whose broker's host is silent, and why. Pure.

The observer may be the one that is cut off: where other hosts fell silent at about the same time
or since, or ZooKeeper does not answer, nothing is done. One replacement at a time, so many a day,
in its windows unless writes or reads fail already. No text names a host: tenants read them.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from controlplane.common.said import Said, joined
from controlplane.common.sentences import Param
from controlplane.common.times import iso
from controlplane.healing.sentences import decided
from controlplane.healing.states import ASK, OFF
from controlplane.healing.windows import Window, is_open, opens_at

REPLACE_AFTER_MIN_S, REPLACE_AFTER_S, REPLACE_AFTER_MAX_S = 120, 1_800, 7 * 86_400
PER_DAY_MIN, PER_DAY, PER_DAY_MAX = 1, 2, 10
DAY = timedelta(hours=24)
AGAIN_AFTER = timedelta(minutes=30)
"""A broker whose replacement failed is left alone for so long."""
LOOK_GAP = timedelta(seconds=60)
"""Who has not looked for longer does not know how long a host was silent."""
AT_ONCE = timedelta(minutes=30)
"""Who was silent for so long before says nothing about a cut: a host that stays away would keep a
whole fleet from healing. Who fell silent later does: a cut may grow, or flap."""
CRASHES = 3
"""So many ends of its process in a row are called a crash loop."""

NONE, WAIT, PROPOSE, REPLACE = "none", "wait", "propose", "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    mode: str
    replace_after_s: int
    per_day_max: int
    windows: tuple[Window, ...] = ()
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerFact:
    """One broker of the cluster. `silent_since`: of its host, null while its agent lives.

    `is_up`: whether the cluster says that it is registered; null where nobody could be asked.
    `is_lost`: its host was declared lost.
    """

    id: int
    host_id: str
    silent_since: datetime | None = None
    is_up: bool | None = True
    is_lost: bool = False
    state: str = "running"
    restarts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one look has shown.

    Attributes:
        zookeeper_sure: whether ZooKeeper said which hosts live.
        silent_hosts: hosts of any cluster's brokers whose agents are silent, each since when.
        under_way: another operation that changes where the cluster's brokers are, or "".
        started: when replacements began by themselves.
        dismissed: brokers of which a person said no, while this silence lasts.
        failed: when a broker's last replacement failed.
        is_harmed: writes or reads of a partition fail already; null: not known.
    """

    now: datetime
    brokers: tuple[BrokerFact, ...]
    zookeeper_sure: bool = True
    silent_hosts: Mapping[str, datetime] = field(default_factory=dict)
    under_way: str = ""
    started: tuple[datetime, ...] = ()
    dismissed: frozenset[int] = frozenset()
    failed: tuple[tuple[int, datetime], ...] = ()
    is_harmed: bool | None = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`code` is stable; `parts` its sentences; `broker` whom it is about, if anybody."""

    act: str
    code: str
    parts: tuple[Said, ...]
    broker: int | None = None

    @property
    def text(self) -> str:
        """In English."""
        return joined(self.parts)


def decide(policy: Policy, facts: Facts) -> Decision:
    """The one thing to do now, or what keeps it from being done."""
    if policy.mode == OFF:
        return _said(NONE, "off")
    if not facts.zookeeper_sure:
        return _said(NONE, "zookeeper-unsure")
    away = _away(facts)
    if not away:
        return _quiet(facts)
    return next(
        (found for one in away if (found := _of_broker(one, policy, facts)).act != NONE),
        _of_broker(away[0], policy, facts),
    )


def _away(facts: Facts) -> list[BrokerFact]:
    """Those whose host is silent or was declared lost, the longest first."""
    found = [one for one in facts.brokers if one.is_lost or one.silent_since is not None]
    return sorted(found, key=lambda one: (not one.is_lost, one.silent_since or facts.now, one.id))


def _quiet(facts: Facts) -> Decision:
    looping = [
        one
        for one in facts.brokers
        if one.state in {"backoff", "exited"} and one.restarts >= CRASHES
    ]
    if not looping:
        return _said(NONE, "well")
    one = looping[0]
    parts = (decided("crash-loop", broker=str(one.id), restarts=one.restarts),)
    return Decision(act=NONE, code="crash-loop", parts=parts, broker=one.id)


def _of_broker(one: BrokerFact, policy: Policy, facts: Facts) -> Decision:
    for refusal in (_premature(one, policy, facts), _forbidden(one, policy, facts)):
        if refusal is not None:
            return refusal
    why = _why(one, facts)
    if policy.mode == ASK:
        parts = (why, decided("proposed", broker=str(one.id)))
        return Decision(act=PROPOSE, code="proposed", parts=parts, broker=one.id)
    if not facts.is_harmed and not is_open(policy.windows, policy.time_zone, facts.now):
        return _outside(one, policy, facts, why)
    harm = (decided("partitions-fail"),) if facts.is_harmed else ()
    parts = (why, *harm, decided("replace", broker=str(one.id)))
    return Decision(act=REPLACE, code="replace", parts=parts, broker=one.id)


def _said(act: str, code: str) -> Decision:
    """Of the cluster, by the one sentence of this code."""
    return Decision(act=act, code=code, parts=(decided(code),))


def _of_one(one: BrokerFact, code: str) -> Decision:
    """Nothing is done about the broker, by the one sentence of this code."""
    parts = (decided(code, broker=str(one.id)),)
    return Decision(act=NONE, code=code, parts=parts, broker=one.id)


def _why(one: BrokerFact, facts: Facts) -> Said:
    if one.is_lost:
        return decided("why/lost", broker=str(one.id))
    silent = facts.now - (one.silent_since or facts.now)
    silent_ms = int(silent.total_seconds() * 1000)
    return decided("why/silent", broker=str(one.id), silent_ms=silent_ms)


def _premature(one: BrokerFact, policy: Policy, facts: Facts) -> Decision | None:
    """Nothing is known to be wrong with the broker, or not for long enough."""
    if one.is_up:
        return _of_one(one, "broker-up")
    if one.is_up is None:
        return _of_one(one, "cluster-silent")
    if one.id in facts.dismissed:
        return _of_one(one, "dismissed")
    if one.is_lost or one.silent_since is None:
        return None
    left_s = policy.replace_after_s - (facts.now - one.silent_since).total_seconds()
    if left_s <= 0:
        return None
    parts = (_why(one, facts), decided("too-soon", left_ms=int(left_s * 1000)))
    return Decision(act=NONE, code="too-soon", parts=parts, broker=one.id)


def _forbidden(one: BrokerFact, policy: Policy, facts: Facts) -> Decision | None:
    """It would be done, and is not safe to be done by itself now."""
    why = _why(one, facts)

    def wait(code: str, **params: Param) -> Decision:
        parts = (why, decided(code, **params))
        return Decision(act=WAIT, code=code, parts=parts, broker=one.id)

    together = _together(one, facts)
    if together > 1:
        return wait("several-silent", hosts=together)
    if facts.under_way:
        return wait("under-way", kind=facts.under_way)
    for broker, at in facts.failed:
        if broker == one.id and facts.now - at < AGAIN_AFTER:
            return wait("failed-before")
    today = sum(facts.now - at < DAY for at in facts.started)
    if today >= policy.per_day_max:
        return wait("bound-reached", brokers=today)
    return None


def _together(one: BrokerFact, facts: Facts) -> int:
    """Hosts that fell silent when the broker's did, or since; of a lost one, all silent ones."""
    if one.is_lost or one.silent_since is None:
        return len(facts.silent_hosts)
    earliest = one.silent_since - AT_ONCE
    return sum(since >= earliest for since in facts.silent_hosts.values())


def _outside(one: BrokerFact, policy: Policy, facts: Facts, why: Said) -> Decision:
    opens = opens_at(policy.windows, policy.time_zone, facts.now)
    when = () if opens is None else (decided("window-opens", opens_at=iso(opens)),)
    parts = (why, decided("outside-window"), *when)
    return Decision(act=WAIT, code="outside-window", parts=parts, broker=one.id)


# -- how long hosts are silent ------------------------------------------------------------------
def silences(
    before: Iterable[tuple[str, datetime]],
    looked_at: datetime | None,
    silent_now: Collection[str],
    now: datetime,
) -> dict[str, datetime]:
    """Since when each host is silent, from now on.

    After a gap between two looks nobody knows what was meanwhile: all begin anew.
    """
    is_fresh = looked_at is None or now - looked_at > LOOK_GAP
    known = {} if is_fresh else dict(before)
    return {host: known.get(host, now) for host in silent_now}
