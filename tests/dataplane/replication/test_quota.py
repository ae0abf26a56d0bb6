"""Replication quotas: what the rate is at any moment, and which replicas it bounds (KIP-73)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.ports.fakes.clock import FakeClock
from dataplane.replication.quota import UNLIMITED, ReplicationQuota, throttled_here
from dataplane.replication.sampled_rate import SampledRate

SAMPLES, SAMPLE_MS = 11, 1_000
WINDOW_MS = SAMPLES * SAMPLE_MS

events = st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 1 << 20)), max_size=60)


def quota(clock: FakeClock, bound: int) -> ReplicationQuota:
    made = ReplicationQuota(clock, samples=SAMPLES, sample_ms=SAMPLE_MS)
    made.bound_bytes_per_s = bound
    return made


# -- the rate


def test_the_first_sample_counts_as_whole():
    rate = SampledRate(samples=SAMPLES, sample_ms=SAMPLE_MS)
    rate.record(500, 0)
    assert rate.per_second(0) == 500
    assert rate.per_second(999) == 500
    assert rate.per_second(2_000) == 250


def test_nothing_recorded_is_no_rate():
    assert SampledRate(samples=SAMPLES, sample_ms=SAMPLE_MS).per_second(5) == 0


def test_what_lies_before_the_window_is_forgotten():
    rate = SampledRate(samples=SAMPLES, sample_ms=SAMPLE_MS)
    rate.record(1_000_000, 0)
    assert rate.per_second(WINDOW_MS - 1) > 0
    assert rate.per_second(WINDOW_MS) == 0


def test_a_sample_stays_while_it_overlaps_the_window():
    """It began before the window, but its last event lies within (Kafka 3.9 keeps one more)."""
    rate = SampledRate(samples=2, sample_ms=SAMPLE_MS)
    rate.record(100, 0)
    rate.record(100, 900)
    rate.record(100, 1_000)
    rate.record(100, 2_000)
    assert rate.per_second(2_899) == pytest.approx(400 * 1000 / 2_899)
    assert rate.per_second(2_900) == pytest.approx(200 * 1000 / 1_900)


@given(events, st.integers(0, 30_000))
def test_the_rate_is_of_the_last_window(steps, later_ms):
    """Never less than what surely lies in the window, never more than one sample's length more."""
    rate = SampledRate(samples=SAMPLES, sample_ms=SAMPLE_MS)
    now_ms, recorded = 0, []
    for wait_ms, amount in steps:
        now_ms += wait_ms
        rate.record(amount, now_ms)
        recorded.append((now_ms, amount))
    now_ms += later_ms
    within = sum(n for at, n in recorded if at > now_ms - WINDOW_MS)
    around = sum(n for at, n in recorded if at > now_ms - WINDOW_MS - SAMPLE_MS)
    rate_now = rate.per_second(now_ms)
    assert rate_now <= around * 1000 / SAMPLE_MS + 1e-6
    assert rate_now >= within * 1000 / (WINDOW_MS + SAMPLE_MS) - 1e-6


@given(events)
def test_time_alone_brings_the_rate_down(steps):
    rate = SampledRate(samples=SAMPLES, sample_ms=SAMPLE_MS)
    now_ms = 0
    for wait_ms, amount in steps:
        now_ms += wait_ms
        rate.record(amount, now_ms)
    assert rate.per_second(now_ms + WINDOW_MS) == 0


# -- the quota


@given(
    bound=st.integers(10_000, 10_000_000),
    sizes=st.lists(st.integers(1, 1 << 20), min_size=20, max_size=200),
)
def test_sending_whenever_the_quota_allows_keeps_to_the_bound(bound, sizes):
    """Over the whole time what passes is the bound, and one last batch that went over it."""
    clock = FakeClock()
    made = quota(clock, bound)
    started_ms = clock.monotonic_ms()
    sent = 0
    for size in sizes:
        while made.is_exceeded:
            clock.advance(50)
        sent += size
        made.record(size)
    elapsed_s = (clock.monotonic_ms() - started_ms) / 1000
    # A sample that leaves the window takes its excess along: one batch per window at most.
    windows = 1 + elapsed_s / (WINDOW_MS / 1000)
    assert sent - max(sizes) <= bound * (elapsed_s + 1) + windows * max(sizes) + bound * windows


@given(size=st.integers(1, 1 << 40), bound=st.integers(0, 1 << 20))
def test_however_large_a_batch_the_next_one_gets_its_turn(size, bound):
    clock = FakeClock()
    made = quota(clock, bound)
    made.record(size)
    clock.advance(WINDOW_MS)
    assert not made.is_exceeded


def test_the_bound_itself_is_allowed_and_one_more_is_not():
    made = quota(FakeClock(), 100)
    made.record(100)
    assert not made.is_exceeded
    made.record(1)
    assert made.is_exceeded
    made.bound_bytes_per_s = UNLIMITED
    assert not made.is_exceeded
    assert made.bytes_total == 101


# -- who is throttled


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ((), frozenset()),
        (("*",), None),
        (("0:1", "1:2", "2:1"), frozenset({0, 2})),
        (("10:11",), frozenset()),
        (("",), frozenset()),
    ],
)
def test_a_list_names_partitions_of_this_broker(listed, found):
    assert throttled_here(listed, 1) == found


def test_a_topic_is_throttled_whole_in_part_or_not_at_all():
    made = quota(FakeClock(), 1)
    assert not made.is_active
    made.throttle("whole", None)
    made.throttle("part", frozenset({1}))
    assert made.is_active
    assert made.is_throttled("whole", 7)
    assert made.is_throttled("part", 1)
    assert not made.is_throttled("part", 0)
    assert not made.is_throttled("other", 0)
    made.throttle("whole", frozenset())
    assert not made.is_throttled("whole", 7)
    made.throttle("part", frozenset())
    assert not made.is_active
