"""One broker emptied, another replication factor: what both promise over random clusters."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.gateway.types import TP
from controlplane.reassignments.planner.evacuate import evacuate
from controlplane.reassignments.planner.factor import change_factor
from controlplane.reassignments.planner.types import Broker, Partition, UnplannableError


def part(number, *replicas, size=100):
    return Partition(tp=TP("t", number), replicas=replicas, size_bytes=size)


def brokers_of(racks, **fields):
    return [Broker(id=id_, rack=rack, **fields) for id_, rack in racks.items()]


def racks_shared(replicas, racks):
    known = [racks[broker] for broker in replicas if broker in racks]
    return len(known) - len(set(known))


@st.composite
def clusters(draw):
    """Partitions on live brokers and on one that is down (30); racks by live broker."""
    ids = draw(st.lists(st.integers(1, 20), min_size=2, max_size=7, unique=True))
    racks = {id_: draw(st.sampled_from(["a", "b", "c", None])) for id_ in ids}
    sizes = st.one_of(st.integers(0, 10), st.integers(0, 10**12), st.none())
    partitions = [
        part(
            number,
            *draw(st.permutations([*ids, 30]))[: draw(st.integers(1, min(4, len(ids) + 1)))],
            size=draw(sizes),
        )
        for number in range(draw(st.integers(1, 25)))
    ]
    return partitions, brokers_of(racks), racks


# -- evacuate -------------------------------------------------------------------------------------
@given(clusters(), st.data())
def test_everything_that_can_leave_leaves_and_nothing_else_moves(made, data):
    partitions, brokers, racks = made
    leaving = data.draw(st.sampled_from([*racks, 30]))
    alone = [row for row in partitions if set(row.replicas) == {leaving}]
    only_there = {
        row.tp for row in data.draw(st.lists(st.sampled_from(alone)) if alone else st.just([]))
    }
    plan = evacuate(partitions, brokers, leaving, only_there=only_there)
    for row in partitions:
        new = plan.wanted.get(row.tp, row.replicas)
        if leaving not in row.replicas:
            assert row.tp not in plan.wanted
            continue
        assert len(new) == len(set(new)) == len(row.replicas)
        others = [broker for broker in row.replicas if broker != leaving]
        assert set(others) <= set(new), "the other replicas stay where they are"
        is_full = all(broker in row.replicas for broker in racks if broker != leaving)
        if row.tp in only_there or is_full:
            assert leaving in new
            assert row.tp in plan.stays
        else:
            assert leaving not in new
            assert set(new) - set(others) <= set(racks) - {leaving}, "to a live broker"
            assert row.tp not in plan.stays
        live = [broker for broker in others if broker in racks]
        if live and row.tp not in only_there:
            assert new[0] != leaving, "it is the preferred leader of none that has another"
    assert bool(plan.stays) == any(limit.broker == leaving for limit in plan.limits)


@given(clusters(), st.data())
def test_a_drain_of_its_own_result_is_empty(made, data):
    partitions, brokers, racks = made
    leaving = data.draw(st.sampled_from(list(racks)))
    plan = evacuate(partitions, brokers, leaving)
    again = [replace(row, replicas=plan.wanted.get(row.tp, row.replicas)) for row in partitions]
    assert evacuate(again, brokers, leaving).wanted == {}
    assert evacuate(partitions, brokers, leaving) == plan


def test_what_leaves_goes_to_the_rack_with_fewest_then_to_the_least_loaded():
    racks = {1: "a", 2: "b", 3: "b", 4: "c"}
    partitions = [part(0, 1, 2), part(1, 3, 4, size=1000), part(2, 3, 4, size=10)]
    plan = evacuate(partitions, brokers_of(racks), 1)
    assert plan.wanted == {TP("t", 0): (4, 2)}, "rack c has none of it; rack b has one"


def test_what_cannot_leave_is_named_with_its_reason():
    partitions = [part(0, 1, 2, 3), part(1, 1)]
    plan = evacuate(partitions, brokers_of({1: "a", 2: "b", 3: "c"}), 1, only_there={TP("t", 1)})
    assert plan.wanted[TP("t", 0)][0] != 1
    assert set(plan.wanted[TP("t", 0)]) == {1, 2, 3}
    assert [(limit.code, limit.broker) for limit in plan.limits] == [
        ("no-other-broker", 1),
        ("no-leader", 1),
    ]
    assert plan.limits[0].text.startswith("t-0: ")
    assert plan.stays == (TP("t", 0), TP("t", 1))


def test_a_bound_on_changes_takes_the_largest_first_and_says_what_is_left():
    partitions = [part(number, 1, size=number) for number in range(5)]
    plan = evacuate(partitions, brokers_of({1: "a", 2: "a"}), 1, changes_max=2)
    assert set(plan.wanted) == {TP("t", 4), TP("t", 3)}
    assert "3 are left" in plan.limits[0].text


def test_the_last_broker_cannot_be_emptied():
    with pytest.raises(UnplannableError, match="no live broker but 1"):
        evacuate([part(0, 1)], brokers_of({1: "a"}), 1)


# -- change_factor --------------------------------------------------------------------------------
@given(clusters(), st.data())
def test_every_partition_gets_the_factor_by_adding_or_taking_away_alone(made, data):
    partitions, brokers, racks = made
    factor = data.draw(st.integers(1, len(racks)))
    in_sync = {
        row.tp: data.draw(st.lists(st.sampled_from(row.replicas), unique=True))
        for row in partitions
    }
    plan = change_factor(partitions, brokers, factor, in_sync=in_sync)
    for row in partitions:
        new = plan.wanted.get(row.tp, row.replicas)
        assert len(new) == len(set(new)) == factor
        grows = len(row.replicas) <= factor
        assert set(row.replicas) <= set(new) if grows else set(new) < set(row.replicas)
        added = set(new) - set(row.replicas)
        assert added <= set(racks), "only live brokers get one"
        if grows:
            assert new[0] == row.replicas[0]
            continue
        gone = set(row.replicas) - set(new)
        kept_worth = min((b in racks, b in in_sync[row.tp]) for b in new)
        assert all((b in racks, b in in_sync[row.tp]) <= kept_worth for b in gone)
        if row.replicas[0] in racks and row.replicas[0] in in_sync[row.tp]:
            assert new[0] == row.replicas[0], "its preferred leader stays"
    again = [replace(row, replicas=plan.wanted.get(row.tp, row.replicas)) for row in partitions]
    assert change_factor(again, brokers, factor, in_sync=in_sync).wanted == {}


@given(clusters(), st.data())
def test_added_replicas_share_no_rack_while_another_is_free(made, data):
    partitions, brokers, racks = made
    factor = data.draw(st.integers(1, len(racks)))
    plan = change_factor(partitions, brokers, factor, in_sync={})
    for row in partitions:
        new = plan.wanted.get(row.tp, row.replicas)
        if len(new) <= len(row.replicas):
            continue
        live_before = [broker for broker in row.replicas if broker in racks]
        live_after = [broker for broker in new if broker in racks]
        added = len(live_after) - len(live_before)
        free = set(racks.values()) - {racks[broker] for broker in live_before}
        worse = racks_shared(live_after, racks) - racks_shared(live_before, racks)
        assert worse == max(added - len(free), 0)


def test_load_decides_within_a_rack():
    brokers = [
        Broker(id=1, rack="a"),
        Broker(id=2, rack="b", fixed_bytes=500),
        Broker(id=3, rack="b", fixed_bytes=10),
    ]
    plan = change_factor([part(0, 1)], brokers, 2, in_sync={})
    assert plan.wanted == {TP("t", 0): (1, 3)}
    full = change_factor([part(0, 1, 2, 3)], brokers, 2, in_sync={TP("t", 0): (1, 2, 3)})
    assert full.wanted == {TP("t", 0): (1, 3)}


def test_more_than_there_are_brokers_is_refused():
    with pytest.raises(UnplannableError, match="factor of 3 needs as many live brokers"):
        change_factor([part(0, 1)], brokers_of({1: "a", 2: "b"}), 3, in_sync={})


def test_a_bound_and_unknown_sizes_are_said():
    partitions = [part(0, 1, size=5), part(1, 1, size=None), part(2, 1, size=9)]
    plan = change_factor(partitions, brokers_of({1: "a", 2: "b"}), 2, in_sync={}, changes_max=1)
    assert set(plan.wanted) == {TP("t", 2)}
    assert [limit.code for limit in plan.limits] == ["partitions-bound", "bytes-unknown"]
