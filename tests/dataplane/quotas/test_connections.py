"""Bounds of connections: how many, and how fast they come."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.quotas import connections
from dataplane.quotas.bounds import AddressBounds
from dataplane.quotas.connections import ADMITTED, Bounds, ConnectionQuotas, Limits, Verdict
from dataplane.quotas.entities import DEFAULT

IP, OTHER = "1.2.3.4", "5.6.7.8"


def refused(reason: str, wait_ms: int = 0) -> Verdict:
    return Verdict(False, wait_ms, reason)


def test_a_broker_a_listener_and_an_address_are_full():
    limits = Limits(
        broker=Bounds(connections=4),
        listeners={"A": Bounds(connections=2)},
        per_ip=3,
        per_ip_overrides={OTHER: 1},
    )
    quotas = ConnectionQuotas(limits)
    assert quotas.open("A", IP, 0) == ADMITTED
    assert quotas.open("A", IP, 0) == ADMITTED
    assert quotas.open("A", "::1", 0) == refused("listener")
    assert quotas.open("B", IP, 0) == ADMITTED
    assert quotas.open("B", IP, 0) == refused("address")
    assert quotas.open("B", OTHER, 0) == ADMITTED
    assert quotas.open("B", OTHER, 0) == refused("broker")
    quotas.close("A", IP)
    assert quotas.open("B", OTHER, 0) == refused("address")
    assert quotas.open("A", IP, 0) == ADMITTED


def test_clients_cannot_fill_the_listener_of_the_brokers():
    limits = Limits(broker=Bounds(connections=1, creation_rate=1), protected="INTERNAL")
    quotas = ConnectionQuotas(limits)
    quotas.open("CLIENTS", IP, 0)
    assert quotas.open("CLIENTS", IP, 0) == refused("broker")
    for _ in range(100):
        assert quotas.open("INTERNAL", IP, 0) == ADMITTED


def test_new_limits_count_at_once_with_what_is_open():
    quotas = ConnectionQuotas(Limits())
    for _ in range(5):
        assert quotas.open("A", IP, 0) == ADMITTED
    quotas.limits = Limits(per_ip=5)
    assert quotas.open("A", IP, 0) == refused("address")
    quotas.limits = Limits(per_ip=6)
    assert quotas.open("A", IP, 0) == ADMITTED


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(broker=Bounds(creation_rate=2)), "broker rate"),
        (Limits(listeners={"A": Bounds(creation_rate=2)}), "listener rate"),
    ],
)
def test_what_comes_too_fast_is_taken_and_waits(limits, reason):
    """Two a second are twenty in the window; what is above waits, a second at most."""
    quotas = ConnectionQuotas(limits)
    assert [quotas.open("A", IP, 0) for _ in range(20)] == [ADMITTED] * 20
    assert quotas.open("A", IP, 0) == Verdict(True, 500, reason)
    for _ in range(5):
        assert quotas.open("A", IP, 0).wait_ms <= 1_000
    assert quotas.open("A", IP, 30_000) == ADMITTED
    assert quotas.creation_rate("A", 30_000) == pytest.approx(0.1)


def test_a_rate_of_nothing_makes_all_wait():
    quotas = ConnectionQuotas(Limits(broker=Bounds(creation_rate=0)))
    assert quotas.open("A", IP, 0) == Verdict(True, 1_000, "broker rate")


def test_an_address_that_comes_too_fast_is_refused_later_than_at_once():
    addresses = AddressBounds()
    addresses.set(IP, 1)
    quotas = ConnectionQuotas(Limits(), addresses)
    assert [quotas.open("A", IP, 0) for _ in range(10)] == [ADMITTED] * 10
    for _ in range(50):
        assert quotas.open("A", IP, 0) == refused("address rate", 1_000)
    assert quotas.open("A", OTHER, 0) == ADMITTED
    assert quotas.open("A", IP, 11_000) == ADMITTED, "what was refused did not count"


def test_addresses_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(connections, "ADDRESSES_MAX", 3)
    addresses = AddressBounds()
    addresses.set(DEFAULT, 1)
    quotas = ConnectionQuotas(Limits(), addresses)
    for number in range(10):
        quotas.open("A", f"10.0.0.{number}", 0)
    assert len(quotas._ip_rates) == 3  # noqa: SLF001 - the bound is what is tested


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("AB"), st.sampled_from([IP, OTHER]))))
def test_never_more_than_may_be(steps):
    limits = Limits(broker=Bounds(connections=5), listeners={"A": Bounds(connections=3)}, per_ip=4)
    quotas, live = ConnectionQuotas(limits), []
    for opens, listener, ip in steps:
        if opens:
            is_full = (
                len(live) >= 5
                or (listener == "A" and sum(each[0] == "A" for each in live) >= 3)
                or sum(each[1] == ip for each in live) >= 4
            )
            assert quotas.open(listener, ip, 0).is_admitted is not is_full
            if not is_full:
                live.append((listener, ip))
        elif live:
            quotas.close(*live.pop())
