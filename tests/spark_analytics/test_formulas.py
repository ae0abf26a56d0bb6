"""What a task computes of its topics, without Spark, against the slow reference."""

from __future__ import annotations

import itertools
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.rules import Rules
from spark_analytics.formulas.arrow import TOPIC_KEY, whole_topics
from spark_analytics.formulas.histories import CUTS_MAX, histories
from spark_analytics.formulas.samples import TopicSamples
from spark_analytics.formulas.segments import above, whole_sums
from spark_analytics.formulas.tables import gold_of
from tests.spark_analytics import reference, tables, world
from tests.spark_analytics.cases import CASES

RULES = Rules()
SUMS_OF_RATES = {"produce_records_per_s", "consume_records_per_s"}


def same(actual, expected):
    """Rows of a table, by their key; a method is any of those that are true."""

    def keyed(rows):
        found = {
            tuple(row.get(name) for name in ("cluster_id", "topic", "group", "ts_ms")): row
            for row in rows
        }
        assert len(found) == len(rows), "two rows of one key"
        return found

    found, wanted = keyed(actual), keyed(expected)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        for name, value in row.items():
            got = found[key][name]
            if isinstance(value, float):
                # A rate is added to the millionth, where a half goes up here and down there.
                halves = row["partitions"] if name in SUMS_OF_RATES else 0
                near = 1e-6 * (1 + halves)
                assert got == pytest.approx(value, rel=1e-9, abs=near), (key, name)
            elif name == "method":
                assert got in value, (key, name)
            else:
                assert got == value, (key, name)


@settings(max_examples=30, deadline=None)
@given(st.integers(100, 10**6), st.booleans())
@example(663, False)  # a rate that ends in half a millionth
def test_gold_of_any_world_is_the_reference_s(seed, cuts_are_seen):
    slices = world.slices(seed, cuts_are_seen=cuts_are_seen)
    found, expected = tables.gold(slices, RULES), reference.gold(slices, RULES)
    for name in GOLD_TABLES:
        same(found[name], expected[name])


@pytest.mark.parametrize("case", CASES)
def test_gold_of_each_staged_case_is_the_reference_s(case):
    found, expected = tables.gold(CASES[case], RULES), reference.gold(CASES[case], RULES)
    for name in GOLD_TABLES:
        same(found[name], expected[name])


def test_worlds_side_by_side_are_as_each_by_itself():
    worlds = [world.slices(seed) for seed in range(6)]
    together = tables.gold([*itertools.chain(*worlds)], RULES)
    for name in GOLD_TABLES:
        alone = [row for slices in worlds for row in tables.gold(slices, RULES)[name]]
        order = itemgetter(*GOLD_TABLES[name].key)
        assert sorted(together[name], key=order) == sorted(alone, key=order)


@pytest.mark.parametrize("rows_a_batch", [1, 7, 1000])
@pytest.mark.parametrize("at_once", [1, 300, 10**9])
def test_topics_are_whole_however_batches_are_cut(rows_a_batch, at_once):
    slices = [one for seed in range(4) for one in world.slices(seed)]
    table = tables.table_of(slices, RULES).sort_by([(name, "ascending") for name in TOPIC_KEY])
    parts = list(whole_topics(table.to_batches(max_chunksize=rows_a_batch), at_once))
    assert pa.concat_tables(parts).equals(table)
    seen = [
        {(r["cluster_id"], r["topic"]) for r in part.select(TOPIC_KEY).to_pylist()}
        for part in parts
    ]
    assert sum(map(len, seen)) == len(set().union(*seen)), "a topic is in two of them"
    if at_once == rows_a_batch == 1:
        assert len(parts) == len(set().union(*seen))
    if at_once == 10**9:
        assert len(parts) == 1


def test_chunks_of_a_slice_are_one_slice():
    slices = world.slices(11)
    table = tables.table_of(slices, RULES)
    arrays = [
        name for name in table.column_names if pa.types.is_list(table.schema.field(name).type)
    ]

    def halves(row):
        middle = len(row["partition"]) // 2
        for part in (slice(middle, None), slice(0, middle)):
            yield {
                name: value[part] if name in arrays and value is not None else value
                for name, value in row.items()
            }

    cut = [half for row in table.to_pylist() for half in halves(row) if half["partition"]]
    assert len(cut) > table.num_rows
    found = list(gold_of(pa.Table.from_pylist(cut, schema=table.schema), RULES))
    whole = list(gold_of(table, RULES))
    assert [batch.to_pylist() for batch in found] == [batch.to_pylist() for batch in whole]


def topic_samples(ends, epochs):
    count = len(ends)
    nothing = np.full(count, np.nan)
    return TopicSamples(
        log=np.zeros(count, dtype=np.int64),
        window_ms=np.arange(count) * 30_000,
        ts_ms=np.arange(count) * 30_000,
        leader_epoch=np.array(epochs, float),
        log_end_offset=np.array(ends, float),
        size_bytes=nothing,
        oldest_ts_ms=nothing,
        retention_ms=nothing,
        retention_bytes=nothing,
    )


def test_of_a_log_that_is_cut_again_and_again_only_so_much_is_kept():
    count = 3 * CUTS_MAX
    ends = [100 if n % 2 == 0 else 50 for n in range(count)]
    found = histories(topic_samples(ends, range(count)), 1)
    assert found.cuts[0] == [n * 30_000 for n in range(count) if n % 2 == 1][-CUTS_MAX:]
    last = found.first[0] + CUTS_MAX
    # What is below all cuts is true in those that follow.
    assert set(found.log_end_offset[found.begins[last] : found.ends[last]]) == {50}
    assert len(found.log_end_offset) <= count * (CUTS_MAX + 2)


def test_the_latest_of_equal_samples_is_below_and_the_first_greater_one_above():
    known = histories(topic_samples([10, 20, 20, 30], [0, 0, 0, 0]), 1)
    zeros = np.zeros(4, dtype=np.int64)
    around = known.brackets(zeros, zeros + 90_000, np.array([5.0, 20.0, 25.0, 30.0]))
    assert np.array_equal(around.left_ms, [np.nan, 60_000, 60_000, 90_000], equal_nan=True)
    assert np.array_equal(around.right_ms, [0, 90_000, 90_000, np.nan], equal_nan=True)


@given(
    st.lists(st.lists(st.integers(0, 50), max_size=12), min_size=1, max_size=6),
    st.lists(st.integers(-5, 60), min_size=1, max_size=20),
)
def test_where_an_offset_lies_is_what_a_search_of_its_run_says(runs, wanted):
    runs = [sorted(run) for run in runs]
    values = np.array([*itertools.chain(*runs), 0], float)
    ends = np.cumsum([len(run) for run in runs])
    begins = ends - [len(run) for run in runs]
    for number, run in enumerate(runs):
        low = np.full(len(wanted), begins[number])
        high = np.full(len(wanted), ends[number])
        found = above(values, low, high, np.array(wanted, float)) - begins[number]
        assert found.tolist() == np.searchsorted(run, wanted, side="right").tolist()


@given(st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1, max_size=30), st.randoms())
def test_a_sum_of_rates_does_not_depend_on_their_order(rates, dice):
    starts = np.zeros(1, dtype=np.intp)
    values = np.array([np.nan if rate is None else rate for rate in rates])
    first = whole_sums(values, starts)
    dice.shuffle(rates)
    again = whole_sums(np.array([np.nan if rate is None else rate for rate in rates]), starts)
    assert np.array_equal(first, again, equal_nan=True)
    known = [rate for rate in rates if rate is not None]
    assert np.isnan(first[0]) if not known else first[0] == pytest.approx(sum(known), abs=1e-4)
