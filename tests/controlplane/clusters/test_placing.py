"""Where brokers go and why; which hosts get none and why."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.clusters.capacity import Capacity
from controlplane.clusters.host_states import CORDONED, DRAINING, LOST
from controlplane.clusters.placing import (
    GIB,
    STALE_S,
    Candidate,
    NoCapacityError,
    place,
    refusal,
)

ROOM = Capacity(
    disk_total_bytes=100 * GIB, disk_free_bytes=50 * GIB, memory_total_bytes=8 * GIB,
    memory_free_bytes=4 * GIB, cores=4, load=0.0, ports_busy=(),
)  # fmt: skip


def host(name, rack="", capacity=ROOM, **changed):
    said = {
        "host_id": name, "rack": rack or name, "address": f"{name}.example", "port_first": 9000,
        "port_last": 9009, "alive": True, "has_key": True, "capacity": capacity,
        "capacity_age_s": 5.0,
    }  # fmt: skip
    return Candidate(**{**said, **changed})


def placed(hosts, count, **changed):
    said = {"broker_ids": range(1, count + 1), "disk_min_bytes": GIB, **changed}
    return [row.host_id for row in place(hosts, **said).placed]


def test_racks_before_hosts_before_anything_else():
    hosts = [host("a1", "a"), host("a2", "a"), host("b1", "b", brokers=40)]
    assert placed(hosts, 2) == ["a1", "b1"]
    assert Counter(placed(hosts, 4)) == {"a1": 1, "a2": 1, "b1": 2}


def test_what_the_cluster_has_already_counts():
    hosts = [host("a"), host("b"), host("c")]
    assert placed(hosts, 1, broker_ids=[7], present=[("a", "a"), ("b", "b")]) == ["c"]


@pytest.mark.parametrize(
    ("worse", "why"),
    [
        ({"capacity": replace(ROOM, disk_free_bytes=9 * GIB)}, "nearly full"),
        ({"capacity": replace(ROOM, memory_free_bytes=2**20)}, "no memory"),
        ({"capacity": Capacity()}, "not known"),
        ({"brokers": 1}, "more brokers"),
        ({"capacity": replace(ROOM, load=4.0)}, "busy"),
        ({"capacity": replace(ROOM, disk_free_bytes=30 * GIB)}, "less disk"),
    ],
)
def test_of_two_the_one_with_more_room(worse, why):
    assert placed([host("a", **worse), host("b")], 1) == ["b"], why


def test_a_little_more_room_changes_nothing():
    """A plan stays what it was while reports come in."""
    busier = replace(ROOM, disk_free_bytes=51 * GIB, load=0.5)
    assert placed([host("a"), host("b", capacity=busier)], 1) == ["a"]


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({"state": CORDONED}, "cordoned", "It is cordoned."),
        ({"state": DRAINING}, "draining", "It is being drained."),
        ({"state": LOST, "alive": False}, "lost", "It was declared lost."),
        ({"alive": False}, "away", "Its agent is away."),
        ({"has_key": False}, "no-key", "It has no key"),
        ({"capacity_age_s": STALE_S + 5}, "stale", "is 2 minutes 5 seconds old."),
        (
            {"capacity": replace(ROOM, disk_free_bytes=GIB // 2)},
            "no-disk",
            "It has 0.5 GiB of disk free; 1.0 GiB a broker are wanted.",
        ),
        ({"port_last": 9000}, "no-port", "It has 1 free port; a broker takes two."),
        ({"ports_taken": frozenset(range(9000, 9009))}, "no-port", "1 free port"),
        (
            {"capacity": replace(ROOM, ports_busy=tuple(range(9000, 9010)))},
            "no-port",
            "It has 0 free ports",
        ),
    ],
)
def test_why_a_host_gets_none(changed, code, said):
    found = refusal(host("a", **changed), disk_min_bytes=GIB)
    assert found is not None
    assert (found.code, found.host_id) == (code, "a")
    assert said in found.text
    decision = place([host("a", **changed), host("b")], broker_ids=[1], disk_min_bytes=GIB)
    assert [row.host_id for row in decision.placed] == ["b"]
    assert decision.refused == [found]


def test_a_host_that_says_nothing_is_used_where_there_is_no_other():
    """An agent of an earlier version reports no capacity."""
    silent = host("a", capacity=Capacity(), capacity_age_s=None)
    decision = place([silent], broker_ids=[1], disk_min_bytes=GIB)
    assert {broker: said.text for broker, said in decision.reasons.items()} == {
        1: (
            "rack a has 0 brokers of the cluster; the host 0 of them and 0 brokers in all;"
            " free disk not known; load not known"
        )
    }


def test_ports_that_somebody_else_listens_on_are_passed_over():
    taken = host("a", ports_taken=frozenset({9000}), capacity=replace(ROOM, ports_busy=(9002,)))
    (row,) = place([taken], broker_ids=[1], disk_min_bytes=GIB).placed
    assert (row.client_port, row.internal_port) == (9001, 9003)


def test_each_broker_of_a_plan_takes_its_share_of_disk_and_ports():
    small = host("a", capacity=replace(ROOM, disk_free_bytes=2 * GIB + 1))
    with pytest.raises(NoCapacityError) as caught:
        place([small], broker_ids=[1, 2, 3], disk_min_bytes=GIB)
    assert (caught.value.found, caught.value.wanted) == (2, 3)
    assert str(caught.value) == "there is room for 2 of 3 brokers"


def test_without_hosts_there_is_no_room():
    with pytest.raises(NoCapacityError, match="there is room for 0 of 1 broker"):
        place([], broker_ids=[1], disk_min_bytes=GIB)


def fitting(hosts, count):
    try:
        return place(hosts, broker_ids=range(1, count + 1), disk_min_bytes=GIB)
    except NoCapacityError:
        return None


HOSTS = st.lists(
    st.builds(
        lambda number, rack, brokers, free, alive, state: host(
            f"h{number}", f"r{rack}", brokers=brokers, alive=alive, state=state,
            capacity=replace(ROOM, disk_free_bytes=free * GIB),
        ),
        st.integers(0, 30), st.integers(0, 3), st.integers(0, 3), st.integers(0, 100),
        st.booleans(), st.sampled_from(["active", CORDONED, LOST]),
    ),
    unique_by=lambda each: each.host_id, max_size=8,
)  # fmt: skip


@given(HOSTS, st.integers(1, 8))
def test_a_plan_uses_no_port_twice_and_no_host_that_is_refused(hosts, count):
    decision = fitting(hosts, count)
    if decision is None:
        return
    ports = [
        (r.host_id, port) for r in decision.placed for port in (r.client_port, r.internal_port)
    ]
    assert len(set(ports)) == 2 * count
    assert not {r.host_id for r in decision.placed} & {r.host_id for r in decision.refused}
    assert set(decision.reasons) == set(range(1, count + 1))
    assert fitting(hosts[::-1], count).placed == decision.placed, (
        "the order in which hosts are named decides nothing"
    )
