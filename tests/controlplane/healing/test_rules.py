"""The evaluator: what is done about a silent host, what keeps it from being done, and why."""

import random
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from controlplane.healing.rules import (
    AT_ONCE,
    NONE,
    PROPOSE,
    REPLACE,
    WAIT,
    BrokerFact,
    Facts,
    Policy,
    decide,
    silences,
)
from controlplane.healing.windows import Window, is_open

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)  # a Thursday
HOUR = timedelta(hours=1)
POLICY = Policy(mode="automatic", replace_after_s=1_800, per_day_max=2)
GONE = BrokerFact(id=2, host_id="b", silent_since=NOW - HOUR, is_up=False)
FACTS = Facts(
    now=NOW,
    brokers=(BrokerFact(id=1, host_id="a"), GONE, BrokerFact(id=3, host_id="c")),
    silent_hosts={"b": NOW - HOUR},
)
NIGHT = Window(day="sunday", begins=time(2), minutes=120)


def with_gone(**changes):
    first, gone, third = FACTS.brokers
    return replace(FACTS, brokers=(first, replace(gone, **changes), third))


def silent_too(since):
    """Another host of the fleet."""
    return replace(FACTS, silent_hosts={**FACTS.silent_hosts, "x": since})


@pytest.mark.parametrize(
    ("policy", "facts", "act", "code"),
    [
        (POLICY, FACTS, REPLACE, "replace"),
        (replace(POLICY, mode="ask"), FACTS, PROPOSE, "proposed"),
        (replace(POLICY, mode="off"), FACTS, NONE, "off"),
        (POLICY, replace(FACTS, zookeeper_sure=False), NONE, "zookeeper-unsure"),
        (POLICY, replace(FACTS, brokers=FACTS.brokers[:1]), NONE, "well"),
        (POLICY, with_gone(silent_since=NOW - HOUR / 4), NONE, "too-soon"),
        (POLICY, with_gone(is_up=True), NONE, "broker-up"),
        (POLICY, with_gone(is_up=None), NONE, "cluster-silent"),
        (POLICY, with_gone(silent_since=None, is_lost=True), REPLACE, "replace"),
        (POLICY, replace(FACTS, dismissed=frozenset({2})), NONE, "dismissed"),
        (POLICY, silent_too(NOW - HOUR), WAIT, "several-silent"),
        (POLICY, silent_too(NOW - HOUR - AT_ONCE), WAIT, "several-silent"),
        (POLICY, silent_too(NOW - HOUR + AT_ONCE), WAIT, "several-silent"),
        # A cut may grow, or flap.
        (POLICY, silent_too(NOW), WAIT, "several-silent"),
        # Another misfortune, long before.
        (POLICY, silent_too(NOW - 2 * HOUR), REPLACE, "replace"),
        (POLICY, replace(FACTS, under_way="reassignment"), WAIT, "under-way"),
        (POLICY, replace(FACTS, failed=((2, NOW - HOUR / 4),)), WAIT, "failed-before"),
        (POLICY, replace(FACTS, failed=((2, NOW - HOUR),)), REPLACE, "replace"),
        (POLICY, replace(FACTS, started=(NOW - HOUR, NOW - 2 * HOUR)), WAIT, "bound-reached"),
        (POLICY, replace(FACTS, started=(NOW - HOUR, NOW - 25 * HOUR)), REPLACE, "replace"),
        (replace(POLICY, windows=(NIGHT,)), FACTS, WAIT, "outside-window"),
        (replace(POLICY, windows=(NIGHT,)), replace(FACTS, is_harmed=True), REPLACE, "replace"),
        (replace(POLICY, windows=(NIGHT,)), replace(FACTS, is_harmed=None), WAIT, "outside-window"),
    ],
)
def test_each_decision(policy, facts, act, code):
    found = decide(policy, facts)
    assert (found.act, found.code) == (act, code)
    assert found.text.endswith(".")


def test_it_says_how_long_and_why():
    assert decide(POLICY, FACTS).text.startswith("The host of broker 2 is silent for 1 h")
    late = decide(replace(POLICY, windows=(NIGHT,)), FACTS).text
    assert "opens at 2026-11-29 02:00 UTC" in late
    harmed = decide(replace(POLICY, windows=(NIGHT,)), replace(FACTS, is_harmed=True)).text
    assert "Partitions fail already, so no window is waited for." in harmed


def test_a_crash_loop_is_shown_and_left_to_the_agent():
    brokers = (replace(FACTS.brokers[0], state="backoff", restarts=7),)
    found = decide(POLICY, replace(FACTS, brokers=brokers, silent_hosts={}))
    assert (found.act, found.code, found.broker) == (NONE, "crash-loop", 1)
    assert "ended 7 times" in found.text


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_facts_nothing_unsafe_is_decided(seed):
    """Facts at random: who is put elsewhere is away for long enough, alone, within all bounds."""
    rng = random.Random(seed)
    acted = 0
    for _ in range(300):
        policy, facts = any_policy(rng), any_facts(rng)
        found = decide(policy, facts)
        assert found == decide(policy, facts), "the same facts, the same decision"
        assert found.text
        if found.act not in {PROPOSE, REPLACE}:
            continue
        acted += 1
        (one,) = [each for each in facts.brokers if each.id == found.broker]
        assert facts.zookeeper_sure
        assert one.is_up is False
        others = [at for host, at in facts.silent_hosts.items() if host != one.host_id]
        if one.is_lost:
            assert len(facts.silent_hosts) <= 1
        else:
            assert all(at < one.silent_since - AT_ONCE for at in others)
        assert not facts.under_way
        assert one.id not in facts.dismissed
        silent_s = (facts.now - (one.silent_since or facts.now)).total_seconds()
        assert one.is_lost or silent_s >= policy.replace_after_s
        recent = [at for at in facts.started if facts.now - at < timedelta(days=1)]
        assert len(recent) < policy.per_day_max
        if found.act == REPLACE:
            assert policy.mode == "automatic"
            assert facts.is_harmed or is_open(policy.windows, policy.time_zone, facts.now)
    assert acted > 5


def any_policy(rng):
    return Policy(
        mode=rng.choice(["off", "ask", "automatic", "automatic"]),
        replace_after_s=rng.choice([120, 1_800, 7_200]),
        per_day_max=rng.choice([1, 2, 10]),
        windows=rng.choice([(), (NIGHT,), (Window(day="thursday", begins=time(11), minutes=90),)]),
        time_zone=rng.choice(["UTC", "Asia/Kolkata"]),
    )


def any_facts(rng):
    brokers = tuple(
        BrokerFact(
            id=number,
            host_id=f"h{number}",
            silent_since=rng.choice([None, None, NOW - timedelta(seconds=rng.randrange(20_000))]),
            is_up=rng.choice([True, False, False, None]),
            is_lost=rng.random() < 0.1,
        )
        for number in range(1, rng.randrange(2, 5))
    )
    return Facts(
        now=NOW,
        brokers=brokers,
        zookeeper_sure=rng.random() < 0.95,
        silent_hosts={one.host_id: one.silent_since for one in brokers if one.silent_since},
        under_way=rng.choice(["", "", "", "reassignment"]),
        started=tuple(NOW - timedelta(hours=rng.randrange(48)) for _ in range(rng.randrange(2))),
        dismissed=frozenset(rng.sample([1, 2, 3], rng.choice([0, 0, 1]))),
        failed=tuple(
            (2, NOW - timedelta(minutes=rng.randrange(60))) for _ in range(rng.choice([0, 0, 1]))
        ),
        is_harmed=rng.choice([True, False, None]),
    )


# -- how long a host is silent
def test_silence_goes_on_while_somebody_looks():
    began = NOW - HOUR
    found = silences([("a", began)], NOW - timedelta(seconds=10), {"a", "b"}, NOW)
    assert found == {"a": began, "b": NOW}


def test_after_a_gap_between_looks_every_silence_begins_anew():
    """ZooKeeper was away, or this service: what was meanwhile nobody knows."""
    found = silences([("a", NOW - HOUR)], NOW - timedelta(minutes=5), {"a"}, NOW)
    assert found == {"a": NOW}
    assert silences([("a", NOW - HOUR)], None, {"a"}, NOW) == {"a": NOW}
