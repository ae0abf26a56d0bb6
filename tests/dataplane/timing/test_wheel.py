"""Timers fire once, never early, and all of them."""

from __future__ import annotations

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
