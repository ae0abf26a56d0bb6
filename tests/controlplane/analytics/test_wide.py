"""Groups that are computed side by side come out as each does by itself, to the last bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from controlplane.analytics.verdicts import wide
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.analytics.verdicts.partitions import partitions
from spark_analytics.contracts.rules import Rules
from tests.spark_analytics import world
from tests.spark_analytics.cases import CASES, group_slice, topic_slice

RULES = Rules()
SEEDS = (range(4), range(4, 8), range(8, 12))


def apart(slices, name):
    """The same telemetry about other topics and groups."""
    return [
        {**one, "topic": f"{one['topic']}-{name}"}
        | ({"group": f"{one['group']}-{name}"} if "group" in one else {})
        for one in slices
    ]


def samples_of(slices):
    ordered = sorted(slices, key=lambda one: one["ts_ms"])
    return [list(found) for _, found in itertools.groupby(ordered, key=lambda one: one["ts_ms"])]


def pairs_of(evaluator):
    return [evaluator._pair(*key) for key in sorted(evaluator._present)]  # noqa: SLF001 - what `verdicts` computes


def compare(samples, *, history_is_whole):
    """How many pairs were computed side by side with others."""
    evaluator, together = Evaluator(RULES, history_is_whole=history_is_whole), 0
    for sample in samples:
        evaluator.feed(sample)
        pairs = pairs_of(evaluator)
        together += sum(len(some) for some in wide._together(pairs) if len(some) > 1)  # noqa: SLF001 - that it is done at all
        for pair, found in zip(pairs, wide.partitions_of(pairs, RULES), strict=True):
            alone = partitions(pair.trail, pair.logs, RULES, history_is_whole=pair.history_is_whole)
            assert found.facts.keys() == alone.facts.keys()
            for name, values in alone.facts.items():
                np.testing.assert_array_equal(found[name], values, err_msg=f"{pair.topic} {name}")
            np.testing.assert_array_equal(found.method, alone.method)
    return together


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
@pytest.mark.parametrize("history_is_whole", [True, False])
def test_worlds_side_by_side(seeds, history_is_whole):
    slices = [one for seed in seeds for one in apart(world.slices(seed), str(seed))]
    assert compare(samples_of(slices), history_is_whole=history_is_whole)


def test_staged_cases_side_by_side():
    slices = [one for name, case in CASES.items() for one in apart(case, name)]
    assert compare(samples_of(slices), history_is_whole=True)


def test_topics_that_grow_side_by_side():
    """Each is as wide as it is now, whatever it was and the others are."""

    def of(count, at):
        more = {name: [0] * count for name in ("log_start_offset", "leader_epoch")}
        more |= {"partition": list(range(count)), "size_bytes": [100] * count}
        return more | {
            "oldest_ts_ms": [world.START_MS] * count,
            "log_end_offset": [at * 50] * count,
        }

    slices = []
    for at, topic in itertools.product(range(1, 12), range(5)):
        count = 1 + topic + (topic % 2) * (at > 5)
        shape = of(count, at)
        slices.append(topic_slice(at, 0, **shape) | {"topic": f"t{topic}"})
        shape = {name: shape[name] for name in ("partition", "log_start_offset", "log_end_offset")}
        committed = [at * 50 - 7 * number for number in range(count)]
        one = group_slice(at, 0, 0, **shape, committed_offset=committed)
        slices.append(one | {"topic": f"t{topic}"})
    assert compare(samples_of(slices), history_is_whole=True)


def test_no_more_than_a_bound_is_put_side_by_side(monkeypatch):
    monkeypatch.setattr(wide, "WIDTH_MAX", 3)
    evaluator = Evaluator(RULES)
    evaluator.feed(
        [
            row | {"topic": f"t{number}"}
            for number in range(8)
            for row in (topic_slice(0, 10), group_slice(0, 5, 10))
        ]
    )
    found = list(wide._together(pairs_of(evaluator)))  # noqa: SLF001 - the bound itself
    assert [len(some) for some in found] == [3, 3, 2]
    assert sorted(itertools.chain(*found)) == list(range(8))
