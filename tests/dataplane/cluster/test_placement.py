"""Placement: Kafka's documented examples, and fairness for any cluster."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.placement import alternate_racks, place
from dataplane.model.errors import ErrorCode, KafkaError


def test_kafkas_rack_unaware_example():
    """The table in AdminUtils' comment: 5 brokers, 10 partitions, 3 replicas, start at broker 0."""
    found = place(dict.fromkeys(range(5)), 10, 3, start_index=0, start_shift=0)
    assert found == [
        (0, 1, 2),
        (1, 2, 3),
        (2, 3, 4),
        (3, 4, 0),
        (4, 0, 1),
        (0, 2, 3),
        (1, 3, 4),
        (2, 4, 0),
        (3, 0, 1),
        (4, 1, 2),
    ]


def test_kafkas_rack_alternation_example():
    racks = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
    assert alternate_racks(racks) == [0, 3, 1, 5, 4, 2]


@st.composite
def clusters(draw):
    ids = draw(st.lists(st.integers(0, 99), min_size=1, max_size=9, unique=True))
    racks = draw(st.sampled_from([None, 1, 2, 3]))
    return {b: None if racks is None else f"r{draw(st.integers(1, racks))}" for b in ids}


@given(clusters(), st.integers(1, 40), st.data())
def test_replicas_are_distinct_live_and_on_as_many_racks_as_can_be(brokers, partitions, data):
    factor = data.draw(st.integers(1, len(brokers)))
    found = place(
        brokers,
        partitions,
        factor,
        start_index=data.draw(st.integers(0, 1000)),
        start_shift=data.draw(st.integers(0, 1000)),
        first_partition=data.draw(st.integers(0, 20)),
    )
    assert len(found) == partitions
    racks = set(brokers.values())
    for replicas in found:
        assert len(replicas) == factor == len(set(replicas))
        assert set(replicas) <= brokers.keys()
        if None not in racks:
            assert len({brokers[r] for r in replicas}) == min(factor, len(racks))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 50), st.integers(0, 50))
def test_without_racks_full_rounds_are_even(count, rounds, start_index, start_shift):
    factor = min(3, count)
    found = place(
        dict.fromkeys(range(count)),
        count * rounds,
        factor,
        start_index=start_index,
        start_shift=start_shift,
    )
    assert set(Counter(r[0] for r in found).values()) == {rounds}
    assert set(Counter(b for r in found for b in r).values()) == {rounds * factor}


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (-5, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 4, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_what_cannot_be_placed_is_refused(partitions, factor, code):
    with pytest.raises(KafkaError) as refused:
        place(dict.fromkeys(range(3)), partitions, factor, start_index=0, start_shift=0)
    assert refused.value.code is code
