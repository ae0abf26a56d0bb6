"""Rates from differences: what is known, what is not, and what it comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics.throughput.drawing import drawn, grid
from controlplane.analytics.throughput.packing import (
    SHARD_SERIES,
    layouts,
    packed_positions,
    packed_rates,
    shard_of,
    unpacked_keys,
    unpacked_positions,
    unpacked_rates,
)
from controlplane.analytics.throughput.rates import (
    GAP_MAX_S,
    LogAt,
    Positions,
    Rates,
    rates_between,
    summed,
)


def at(s, logs, *, ids=None, commits=None):
    """`logs`: {topic: {partition: (leader, start, end, size)}}."""
    return Positions(
        ts_ms=s * 1000,
        ids={topic: (ids or {}).get(topic, f"id-{topic}") for topic in logs},
        logs={t: {p: LogAt(*log) for p, log in each.items()} for t, each in logs.items()},
        commits=commits or {},
    )


def one(before, after):
    """Of partition 0 of `t`, ten seconds apart."""
    return rates_between(at(0, {"t": {0: before}}), at(10, {"t": {0: after}}))["p", "t", 0]


def test_records_and_bytes_are_by_how_much_the_log_grew():
    assert one((1, 0, 100, 5_000), (1, 0, 140, 9_000)) == Rates(4.0, 400.0, 0, 0, 1.0)


def test_a_log_that_did_not_move_has_a_rate_of_nothing_not_an_unknown_one():
    assert one((1, 0, 100, 5_000), (1, 0, 100, 5_000)) == Rates(0, 0, 0, 0, 1.0)


def test_where_retention_deleted_meanwhile_bytes_are_by_the_mean_size_of_a_record():
    assert one((1, 0, 100, 5_000), (1, 60, 140, 4_000)).bytes_in == 4.0 * 50


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1, 0, 100, 5_000), (1, 0, 90, 4_500)),
        ((1, 0, None, 5_000), (1, 0, 100, 5_000)),
        ((1, 0, 100, 5_000), (None, None, None, None)),
    ],
    ids=["truncated", "not seen before", "not seen now"],
)
def test_what_fell_or_was_not_seen_at_both_ends_is_not_known(before, after):
    assert one(before, after) == Rates()


def test_without_sizes_records_are_known_and_bytes_are_not():
    assert one((1, 0, 100, None), (1, 0, 140, None)) == Rates(4.0, None, 0, 0, 1.0)


def test_a_topic_that_was_made_anew_is_another_one():
    before = at(0, {"t": {0: (1, 0, 10, 100)}}, commits={"g": {"t": {0: 1}}})
    after = at(10, {"t": {0: (1, 0, 500, 900)}}, ids={"t": "new"}, commits={"g": {"t": {0: 9}}})
    found = rates_between(before, after)
    assert found["p", "t", 0] == Rates()
    assert found["g", "g", "t"] == Rates()
    assert found["c",] == Rates()


@pytest.mark.parametrize("s", [0.5, GAP_MAX_S + 1, -10])
def test_looks_that_are_too_far_apart_or_turned_round_have_no_rates(s):
    assert rates_between(at(100, {}), at(100 + s, {})) is None


def test_a_sum_is_of_what_is_known_and_says_how_much_that_is():
    before = at(0, {"t": {0: (1, 0, 10, 100), 1: (2, 0, 10, 100), 2: (2, 0, 10, 100)}})
    after = at(10, {"t": {0: (1, 0, 30, 300), 1: (2, 0, 5, 50), 2: (1, 0, 20, 200)}})
    found = rates_between(before, after)
    assert found["t", "t"] == Rates(3.0, 30.0, 0, 0, pytest.approx(2 / 3))
    assert found["c",] == found["t", "t"]
    # Partition 2 changed its leader: nobody knows which of both took its records.
    assert found["b", 1] == Rates(2.0, 20.0, 0, 0, 0.5)
    assert found["b", 2] == Rates()


def test_groups_read_by_their_commits_and_a_reset_backwards_is_not_known():
    before = at(
        0,
        {"t": {0: (1, 0, 100, 1_000), 1: (1, 0, 100, 1_000)}},
        commits={"g": {"t": {0: 10, 1: 50}}, "late": {"t": {0: 0}}},
    )
    after = at(
        10,
        {"t": {0: (1, 0, 120, 1_200), 1: (1, 0, 100, 1_000)}},
        commits={"g": {"t": {0: 40, 1: 20}}, "late": {"t": {0: 5}}, "new": {"t": {0: 7}}},
    )
    found = rates_between(before, after)
    assert found["g", "g", "t"] == Rates(2.0, 20.0, 3.0, 30.0, 0.5)
    assert found["g", "late", "t"].records_out == 0.5
    assert found["g", "new", "t"].records_out is None
    # What a new group has read before it was seen is in no sum.
    assert found["p", "t", 0].records_out is None


def test_a_commit_is_known_while_the_leader_is_away():
    before = at(0, {"t": {0: (1, 0, 100, 1_000)}}, commits={"g": {"t": {0: 10}}})
    after = at(10, {"t": {0: (None, None, None, None)}}, commits={"g": {"t": {0: 20}}})
    found = rates_between(before, after)["g", "g", "t"]
    assert (found.records_in, found.records_out, found.known) == (None, 1.0, 1.0)


@given(
    st.lists(
        st.tuples(st.integers(0, 2**62), st.integers(0, 2**62), st.integers(0, 2**62)), max_size=8
    )
)
def test_no_rate_is_below_nothing_and_sums_are_those_of_partitions(rows):
    before = at(0, {"t": {p: (p % 3, 0, end, size) for p, (end, _, size) in enumerate(rows)}})
    after = at(10, {"t": {p: (p % 3, 0, end, size) for p, (_, end, size) in enumerate(rows)}})
    found = rates_between(before, after)
    parts = [rates for key, rates in found.items() if key[0] == "p"]
    assert all(value is None or value >= 0 for rates in parts for value in rates)
    known = [rates.records_in for rates in parts if rates.records_in is not None]
    for key in (("c",), ("t", "t")):
        assert found[key].records_in == (pytest.approx(sum(known)) if known else None)
        assert found[key].known == (pytest.approx(len(known) / len(rows)) if rows else 0)


def test_several_series_as_one():
    assert summed([Rates(1.0, None, 2.0, None, 1.0), Rates(3.0, 5.0, None, None, 0.5)]) == Rates(
        4.0, 5.0, 2.0, None, 0.75
    )
    assert summed([]) == Rates()


# -- packing --------------------------------------------------------------------------------
NAMES = ["orders", "\0", "\ud800", "a/b", "ümlaut", "x" * 249]


def test_positions_survive_packing_with_any_name():
    for name in NAMES:
        made = at(
            5, {name: {0: (1, 0, 2**62, None), 7: (None,) * 4}}, commits={name: {name: {0: 4}}}
        )
        assert unpacked_positions(packed_positions(made)) == made


@pytest.mark.parametrize("data", [b"", b"x", packed_positions(at(0, {}))[:-3]])
def test_what_cannot_be_unpacked_is_none(data):
    assert unpacked_positions(data) is None
    assert unpacked_keys(data) == []
    assert unpacked_rates(data, [0]) == {}


@pytest.mark.parametrize("count", [1, 20, SHARD_SERIES, 3 * SHARD_SERIES])
def test_each_series_is_in_one_block_which_its_name_leads_to(count):
    keys = [("p", f"topic-{n % 700}", n) for n in range(count)]
    made = layouts("partitions", keys)
    assert sorted(key for layout in made for key in layout.keys) == sorted(keys)
    for layout in made:
        assert unpacked_keys(layout.packed()) == list(layout.keys)
        assert all(shard_of(key[1], layout.shards) == layout.shard for key in layout.keys)


def test_one_more_topic_changes_one_block():
    keys = [("t", f"topic-{n}") for n in range(5_000)]
    before = {layout.mark for layout in layouts("topics", keys)}
    after = {layout.mark for layout in layouts("topics", [*keys, ("t", "another")])}
    assert len(before) > 1
    assert len(after - before) == 1


def test_rates_survive_packing_and_unknown_stays_unknown():
    keys = [("t", "a"), ("t", "b"), ("t", "c")]
    rates = {keys[0]: Rates(1.5, None, 0.0, 1e30, 0.25), keys[2]: Rates()}
    found = unpacked_rates(packed_rates(keys, rates), [0, 1, 2, 3])
    assert found[0] == pytest.approx(rates[keys[0]])
    assert found[1] == found[2] == Rates()
    assert 3 not in found


# -- drawing --------------------------------------------------------------------------------
@given(st.integers(0, 2**41), st.integers(1, 2**38), st.sampled_from([30_000, 3_600_000]),
       st.integers(10, 1000))  # fmt: skip
def test_a_grid_ends_with_the_newest_covers_the_span_and_has_no_more_points(
    newest, span, period, points
):
    made = grid(newest_ms=newest, span_ms=span, period_ms=period, points=points)
    assert made.step_ms % period == 0
    assert len(made.ts_ms) <= points
    assert made.to_ms - made.from_ms >= span
    assert made.to_ms - period <= newest < made.to_ms


def test_a_step_without_a_sample_is_a_gap_not_a_zero():
    made = grid(newest_ms=95_000, span_ms=120_000, period_ms=30_000, points=100)
    values = drawn(made, {0: Rates(1.0, known=1.0), 60_000: Rates(known=0.0), 90_000: Rates(3.0)})
    assert list(made.ts_ms) == [0, 30_000, 60_000, 90_000]
    assert values["records_in_per_s"] == [1.0, None, None, 3.0]
    assert values["known"] == [1.0, 0.0, 0.0, 0.0]


def test_several_steps_are_drawn_as_the_mean_of_what_is_known():
    made = grid(newest_ms=119_000, span_ms=120_000, period_ms=30_000, points=2)
    steps = {0: Rates(1.0, known=1.0), 30_000: Rates(3.0, known=0.5), 60_000: Rates(7.0, known=1.0)}
    values = drawn(made, steps)
    assert values["records_in_per_s"] == [2.0, 7.0]
    assert values["known"] == [0.75, 1.0]
