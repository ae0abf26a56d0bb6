"""Who came, went, bounced or only changed its listeners."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.image import BrokerInfo
from dataplane.cluster.registration_changes import acted_upon, registration_changes


def brokers(**epochs):
    return {int(name[1:]): BrokerInfo(int(name[1:]), epoch=epoch) for name, epoch in epochs.items()}


def test_a_bounced_broker_is_gone_and_arrived():
    before, now = brokers(b1=1, b2=2, b3=3), brokers(b2=9, b3=3, b4=4)
    changes = registration_changes(before, now)
    assert changes.gone == {1, 2}
    assert changes.arrived == {2: now[2], 4: now[4]}
    assert not changes.renewed


def test_another_rack_in_the_same_life_is_a_renewal():
    before = brokers(b1=1)
    changes = registration_changes(before, {1: BrokerInfo(1, epoch=1, rack="b")})
    assert (changes.gone, changes.arrived, changes.renewed) == (set(), {}, True)


EPOCHS = st.dictionaries(st.integers(1, 4), st.integers(1, 3))


@given(EPOCHS, EPOCHS)
def test_going_and_arriving_turn_what_was_into_what_is(before_epochs, now_epochs):
    before = {b: BrokerInfo(b, epoch=e) for b, e in before_epochs.items()}
    now = {b: BrokerInfo(b, epoch=e) for b, e in now_epochs.items()}
    changes = registration_changes(before, now)
    stayed = {b: info for b, info in before.items() if b not in changes.gone}
    assert {**stayed, **changes.arrived} == now
    assert not stayed.keys() & changes.arrived.keys()
    assert not changes.renewed


@given(EPOCHS, EPOCHS)
def test_only_the_very_registration_counts_as_acted_upon(registered_epochs, known):
    registered = {b: BrokerInfo(b, epoch=e) for b, e in registered_epochs.items()}
    assert {b: i.epoch for b, i in acted_upon(registered, known).items()} == dict(
        registered_epochs.items() & known.items()
    )
