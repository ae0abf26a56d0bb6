"""Elections: cases from Kafka's documentation, and what must hold for any input."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.election import (
    elect_first,
    elect_for_shutdown,
    elect_offline,
    elect_preferred,
    elect_reassigned,
    without_replicas,
)
from dataplane.model.partition import PartitionState

BROKERS = st.integers(0, 6)
live_sets = st.frozensets(BROKERS)


@st.composite
def states(draw):
    replicas = tuple(draw(st.lists(BROKERS, min_size=1, max_size=5, unique=True)))
    isr = tuple(draw(st.lists(st.sampled_from(replicas), min_size=1, unique=True)))
    leader = draw(st.sampled_from([*isr, -1]))
    return PartitionState(
        index=0, leader=leader, leader_epoch=draw(st.integers(0, 9)), replicas=replicas, isr=isr
    )


def state(leader, replicas, isr, epoch=3):
    return PartitionState(index=0, leader=leader, replicas=replicas, isr=isr, leader_epoch=epoch)


def test_first_live_in_sync_replica_in_assignment_order_leads():
    after = elect_offline(state(1, (1, 2, 3), (3, 2, 1)), {2, 3}, unclean=False)
    assert (after.leader, after.isr, after.leader_epoch) == (2, (3, 2), 4)


def test_without_a_live_in_sync_replica_nobody_leads_unless_unclean():
    before = state(1, (1, 2, 3), (1,))
    assert elect_offline(before, {2, 3}, unclean=False) is None
    after = elect_offline(before, {2, 3}, unclean=True)
    assert (after.leader, after.isr, after.leader_recovery_state) == (2, (2,), 1)


def test_preferred():
    assert elect_preferred(state(2, (1, 2), (1, 2)), {1, 2}).leader == 1
    assert elect_preferred(state(1, (1, 2), (1, 2)), {1, 2}) is None
    assert elect_preferred(state(2, (1, 2), (2,)), {1, 2}) is None
    assert elect_preferred(state(2, (1, 2), (1, 2)), {2}) is None


def test_reassigned_leader_is_a_live_in_sync_target():
    assert elect_reassigned(state(1, (3, 4, 1), (1, 4)), (3, 4), {1, 3, 4}).leader == 4
    assert elect_reassigned(state(1, (3, 4, 1), (1,)), (3, 4), {1, 3, 4}) is None


def test_shutdown_avoids_all_that_stop():
    after = elect_for_shutdown(state(1, (1, 2, 3), (1, 2, 3)), {1, 2, 3}, {1, 2})
    assert (after.leader, after.isr) == (3, (3,))
    assert elect_for_shutdown(state(1, (1, 2), (1, 2)), {1, 2}, {1, 2}) is None


def test_the_last_in_sync_replicas_stay_in_the_isr():
    after = without_replicas(state(1, (1, 2), (1,)), {1})
    assert (after.leader, after.isr) == (-1, (1,))
    assert without_replicas(after, {1}) is None


@given(states(), live_sets)
def test_a_clean_leader_is_always_live_and_was_in_sync(before, live):
    after = elect_offline(before, live, unclean=False)
    if after is None:
        assert not set(before.isr) & live
    else:
        assert after.leader in live
        assert after.leader in before.isr
        assert after.leader in after.isr
        assert set(after.isr) == set(before.isr) & live
        assert after.leader_epoch == before.leader_epoch + 1


@given(states(), live_sets)
def test_an_unclean_election_fails_only_without_any_live_replica(before, live):
    after = elect_offline(before, live, unclean=True)
    assert (after is None) == (not set(before.replicas) & live)
    if after is not None:
        assert after.leader in after.isr
        assert set(after.isr) <= live


@given(states(), live_sets)
def test_shrinking_never_empties_the_isr_and_always_changes_the_epoch(before, gone):
    after = without_replicas(before, gone)
    if after is None:
        return
    assert after.isr
    assert set(after.isr) <= set(before.isr)
    assert after.leader_epoch == before.leader_epoch + 1
    assert after.leader == -1 or after.leader not in gone
    assert without_replicas(after, gone) is None


@given(states(), live_sets)
def test_a_first_election_takes_every_live_replica(before, live):
    after = elect_first(before, live)
    alive = [r for r in before.replicas if r in live]
    assert (after is None) == (not alive)
    if after is not None:
        assert after.isr == tuple(alive)
        assert after.leader == alive[0]
        assert after.leader_epoch == 0
