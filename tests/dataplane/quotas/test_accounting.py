"""Rates, buckets, precedence and accounts, held against what they promise."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dataplane.quotas import accounts
from dataplane.quotas.accounts import Accounts, charge
from dataplane.quotas.bounds import AddressBounds, Bounds, Holder
from dataplane.quotas.entities import ABSENT, DEFAULT, Entity
from dataplane.quotas.rate_window import RateWindow
from dataplane.quotas.token_bucket import TokenBucket

EVENTS = st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 10_000)), max_size=60)


def window() -> RateWindow:
    return RateWindow(samples=11, sample_ms=1000)


def test_the_first_second_counts_as_one_of_ten():
    """Kafka takes the samples that are not there yet for empty ones."""
    rate = window()
    rate.record(1000, 50_000)
    assert rate.measure(50_000) == (100.0, 10_000)
    assert rate.measure(50_500) == (1000 * 1000 / 10_500, 10_500)
    assert rate.measure(60_999) == (1000 * 1000 / 10_999, 10_999)
    assert rate.measure(61_000) == (0.0, 10_000)


def test_throttle_time_is_what_brings_the_rate_down():
    """1000 over 10 s are 100 a second; 50 are allowed: it takes another 10 s."""
    rate = window()
    rate.record(1000, 0)
    assert rate.throttle_ms(50, 0) == 10_000
    assert rate.throttle_ms(100, 0) == 0


@given(EVENTS)
def test_the_window_holds_what_was_recorded_lately(events):
    """All of the last ten seconds counts; nothing that is older than a sample beyond the window."""
    rate, now_ms, log = window(), 1_000_000, []
    for wait_ms, amount in events:
        now_ms += wait_ms
        rate.record(amount, now_ms)
        log.append((now_ms, amount))
        per_second, window_ms = rate.measure(now_ms)
        total = round(per_second * window_ms / 1000)
        assert sum(each for at, each in log if now_ms - at < 10_000) <= total
        assert total <= sum(each for at, each in log if now_ms - at <= 12_000)
        assert 10_000 <= window_ms <= 12_000
        assert len(rate._parts) <= 13  # noqa: SLF001 - it must not grow


@given(EVENTS, st.integers(0, 5_000))
def test_what_is_taken_back_was_never_there(events, amount):
    rate, now_ms = window(), 0
    for wait_ms, each in events:
        now_ms += wait_ms
        rate.record(each, now_ms)
    rate.record(0, now_ms)
    before = rate.measure(now_ms)
    rate.record(amount, now_ms)
    rate.record(-amount, now_ms)
    assert rate.measure(now_ms) == pytest.approx(before)


@given(st.integers(1_000, 1_000_000), st.integers(10_000, 1_000_000), st.integers(0, 20))
def test_a_client_that_waits_as_asked_comes_to_its_bound(size, bound, pause_ms):
    """It sends as fast as it may. The first window is let through at once, as in Kafka: the rate
    up to then is not known. What follows in a minute is the bound, give or take one window: for
    requests that are small beside what the bound lets through in one. A larger one leaves the
    window as a whole, and the next is let through, as in Kafka.
    """
    assume(size <= bound * 2)
    rate, now_ms, late = window(), 0, 0
    while now_ms < 80_000:
        rate.record(size, now_ms)
        late += size if now_ms >= 20_000 else 0
        now_ms += max(1, pause_ms, rate.throttle_ms(bound, now_ms))
    offered = size * 60_000 / max(1, pause_ms)
    expected = min(bound * 60, offered)
    assert late <= expected * 1.2 + 2 * size
    assert late >= expected * 0.6 - 2 * size


def test_a_burst_of_mutations_waits_in_proportion():
    """KIP-599's example: 5 a second, 100 samples of a second, a burst of 560."""
    bucket = TokenBucket(burst_s=100)
    assert bucket.tokens(5, 7) == 500
    bucket.take(560, 5, 7)
    assert bucket.throttle_ms(5, 7) == 12_000
    assert bucket.throttle_ms(5, 6_007) == 6_000
    assert bucket.throttle_ms(5, 12_007) == 0
    assert bucket.tokens(5, 10**9) == 500


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 40)), max_size=80))
def test_a_bucket_lets_no_more_through_than_it_held_and_was_refilled(requests):
    rate, burst_s, now_ms, taken = 4.0, 11, 0, 0
    bucket = TokenBucket(burst_s=burst_s)
    for wait_ms, amount in requests:
        now_ms += wait_ms
        if bucket.throttle_ms(rate, now_ms) == 0:
            bucket.take(amount, rate, now_ms)
            taken += amount
            assert taken <= rate * burst_s + rate * now_ms / 1000 + amount + 1e-6


NAMES = ("a", DEFAULT, ABSENT)
PRECEDENCE = [
    (("a", "c"), Holder("a", "c")),
    (("a", DEFAULT), Holder("a", "c")),
    (("a", ABSENT), Holder("a", None)),
    ((DEFAULT, "c"), Holder("a", "c")),
    ((DEFAULT, DEFAULT), Holder("a", "c")),
    ((DEFAULT, ABSENT), Holder("a", None)),
    ((ABSENT, "c"), Holder(None, "c")),
    ((ABSENT, DEFAULT), Holder(None, "c")),
]


@pytest.mark.parametrize("present", list(itertools.product([False, True], repeat=8)))
def test_the_most_special_bound_applies(present):
    """All 256 sets of the eight entities that fit a client, among some that do not."""
    bounds = Bounds()
    others = [("b", "c"), ("b", ABSENT), ("b", DEFAULT), ("a", "d"), (DEFAULT, "d"), (ABSENT, "d")]
    for names in others:
        bounds.set(Entity(*names), 1000.0)
    expected = None
    for number, (names, holder) in enumerate(PRECEDENCE):
        if present[number]:
            bounds.set(Entity(*names), float(number + 1))
            expected = expected or (holder, float(number + 1))
    assert bounds.find("a", "c") == expected
    for names, _ in PRECEDENCE:
        bounds.set(Entity(*names), None)
    assert bounds.find("a", "c") is None
    assert not bounds.is_empty
    for names in others:
        bounds.set(Entity(*names), None)
    assert bounds.is_empty


def test_an_addresses_own_bound_comes_before_that_of_all():
    bounds = AddressBounds()
    assert bounds.find("1.2.3.4") is None
    assert bounds.is_empty
    bounds.set(DEFAULT, 5)
    bounds.set("1.2.3.4", 7)
    assert (bounds.find("1.2.3.4"), bounds.find("::1")) == (7, 5)
    bounds.set("1.2.3.4", None)
    bounds.set(DEFAULT, None)
    assert bounds.is_empty


def rates() -> Accounts[RateWindow]:
    return Accounts(window)


def test_users_share_no_default_and_client_ids_do():
    found = rates()
    found.bounds.set(Entity(user=DEFAULT), 100)
    one, two = found.find("a", "x", 0), found.find("b", "x", 0)
    assert one is not two
    assert found.find("a", "y", 0) is one
    found.bounds.set(Entity(user=DEFAULT), None)
    found.bounds.set(Entity(client_id=DEFAULT), 100)
    assert found.find("a", "x", 0) is found.find("b", "x", 0)
    assert found.find("a", "", 0).holder == Holder(None, "")


def test_a_changed_bound_keeps_what_was_used():
    found = rates()
    found.bounds.set(Entity(user="a"), 1000)
    assert charge(found.find("a", "", 0), 5_000, 0) == 0
    found.bounds.set(Entity(user="a"), 100)
    assert charge(found.find("a", "", 0), 0, 0) == 40_000


def test_the_number_of_accounts_is_bounded(monkeypatch):
    monkeypatch.setattr(accounts, "ACCOUNTS_MAX", 3)
    found = rates()
    found.bounds.set(Entity(client_id=DEFAULT), 1)
    kept = found.find("u", "kept", 0)
    for number in range(10):
        found.find("u", f"id-{number}", number)
        assert found.find("u", "kept", number) is kept, "it is used all the time"
    assert len(found) == 3
    assert found.forgotten_early == 8
    found.find("u", "later", accounts.FORGOTTEN_MS + 9)
    assert [account.holder.client_id for account in found.latest()] == ["later"]
    assert found.forgotten_early == 8
