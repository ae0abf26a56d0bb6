"""Timers fire once, never early, and all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.timing.wheel import TimingWheel

DELAYS = st.lists(st.integers(0, 200_000), max_size=60)
STEPS = st.lists(st.integers(0, 30_000), min_size=1, max_size=30)


@settings(max_examples=100, deadline=None)
@given(
    start=st.integers(0, 10**12), delays=DELAYS, steps=STEPS, cancelled=st.sets(st.integers(0, 59))
)
def test_each_timer_fires_in_the_first_advance_that_reaches_it(start, delays, steps, cancelled):
    wheel = TimingWheel(start)
    fired: list[tuple[int, int]] = []
    now_ms = start
    timers = [
        wheel.call_later(delay, lambda n=n: fired.append((n, now_ms)))
        for n, delay in enumerate(delays)
    ]
    live = {n for n in range(len(delays)) if n not in cancelled}
    for n in set(range(len(delays))) - live:
        timers[n].cancel()
    for step in [*steps, 300_000]:
        before, now_ms = now_ms, now_ms + step
        due = {n for n in live if before < start + delays[n] <= now_ms}
        due |= {n for n in live if start + delays[n] <= before and timers[n].is_pending}
        count = len(fired)
        assert wheel.advance(now_ms) == len(due)
        assert {n for n, _ in fired[count:]} == due
        order = [delays[n] for n, _ in fired[count:]]
        assert order == sorted(order)
    assert {n for n, _ in fired} == live
    assert len(wheel) == 0
    assert wheel.next_due_ms() is None


@given(delays=st.lists(st.integers(1, 10**9), min_size=1, max_size=30))
def test_driven_by_next_due_every_timer_fires_at_its_very_millisecond(delays):
    wheel = TimingWheel(0)
    fired: list[tuple[int, int]] = []
    now_ms = 0
    for delay in delays:
        wheel.call_at(delay, lambda d=delay: fired.append((d, now_ms)))
    while (due_ms := wheel.next_due_ms()) is not None:
        assert due_ms > now_ms
        now_ms = due_ms
        wheel.advance(now_ms)
    assert fired == [(delay, delay) for delay in sorted(delays)]


def test_timers_set_by_timers():
    wheel = TimingWheel(0)
    fired = []
    wheel.call_later(5, lambda: wheel.call_later(0, lambda: fired.append("now")))
    wheel.call_later(5, lambda: wheel.call_later(10, lambda: fired.append("later")))
    wheel.advance(5)
    assert fired == ["now"]
    wheel.advance(100)
    assert fired == ["now", "later"]


def test_clock_that_goes_back_is_ignored():
    wheel = TimingWheel(1000)
    fired = []
    wheel.call_at(1010, lambda: fired.append(1))
    assert wheel.advance(10) == 0
    assert wheel.advance(1010) == 1
    wheel.call_at(5, lambda: fired.append(2))
    wheel.advance(1010)
    assert fired == [1, 2]


@pytest.mark.parametrize("far", [5, 25, 5_000])
def test_a_timer_cancels_others_of_its_millisecond_and_of_later_ones(far):
    wheel = TimingWheel(0)
    fired: list[str] = []
    timers = []

    def first() -> None:
        fired.append("first")
        for timer in timers:
            timer.cancel()

    wheel.call_at(far, first)
    timers += [wheel.call_at(far + n, lambda: fired.append("other")) for n in (0, 1, 3)]
    assert wheel.advance(far + 100) == 1
    assert fired == ["first"]
    assert len(wheel) == 0


def test_a_cancelled_timer_is_gone_at_once_and_may_be_set_again():
    wheel = TimingWheel(0)
    fired: list[int] = []
    timer = wheel.call_at(10, lambda: fired.append(1))
    timer.cancel()
    timer.cancel()
    assert (len(wheel), timer.is_pending) == (0, False)
    assert not wheel.add(timer, 10), "its bucket is still there"
    wheel.advance(10)
    assert fired == [1]
    wheel.add(timer, 20)
    wheel.advance(20)
    assert fired == [1, 1]


def test_adding_says_whether_there_is_something_to_do_sooner():
    wheel = TimingWheel(0)
    assert wheel.call_at(5, lambda: None).is_pending
    assert wheel.next_due_ms() == 5
    timer = wheel.call_at(1_000_000, lambda: None)
    timer.cancel()
    assert not wheel.add(timer, 1_000_001), "the bucket of the level that was used last"


@given(st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 5_000)), max_size=60))
def test_timers_set_as_time_goes_fire_in_the_first_advance_that_reaches_them(moves):
    """Every bucket that was used last is used again while it lives, and never after."""
    wheel = TimingWheel(0)
    now_ms = 0
    waiting: list[int] = []
    fired: list[int] = []
    for delay, step in moves:
        deadline = now_ms + delay
        waiting.append(deadline)
        wheel.call_at(deadline, lambda d=deadline: fired.append(d))
        now_ms += step
        fired.clear()
        wheel.advance(now_ms)
        assert sorted(fired) == sorted(each for each in waiting if each <= now_ms)
        waiting = [each for each in waiting if each > now_ms]
        assert len(wheel) == len(waiting)
