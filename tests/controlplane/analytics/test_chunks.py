"""Slices that are longer than a record may be: cut, sent, joined again, or left out."""

from __future__ import annotations

import json
import random
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from controlplane.analytics import collect, judge
from controlplane.analytics.chunks import encoded, whole
from controlplane.analytics.models import CollectorState, GroupVerdict
from controlplane.gateway.types import TP
from spark_analytics.contracts.telemetry import (
    CHUNK_BYTES_MAX,
    CHUNKS_MAX,
    SLICE_ARRAYS,
    TELEMETRY_MESSAGE_BYTES_MAX,
    TELEMETRY_TOPIC,
)
from tests.spark_analytics.cases import group_slice, topic_slice

LARGE = 25_000
"""Partitions: one record of them all is longer than a record may be."""
END = 10**12
NUMBERS = st.none() | st.integers(-1, 2**62)


def slice_of(kind, count, values, **more):
    made = topic_slice(0, 0) if kind == "topic" else group_slice(0, 0, 0)
    arrays = {name: [next(values) for _ in range(count)] for name in SLICE_ARRAYS[kind]}
    return {**made, "partition": list(range(count)), **arrays, **more}


def parsed(sent):
    return [json.loads(record.value) for record in sent]


def only(found):
    ((_, one),) = found.items()
    return one


@st.composite
def slices_(draw):
    kind = draw(st.sampled_from(sorted(SLICE_ARRAYS)))
    count = draw(st.integers(1, 40))
    values = draw(st.lists(NUMBERS, min_size=1, max_size=50))
    dice = draw(st.randoms(use_true_random=False))
    name = draw(st.text(max_size=20))
    return slice_of(kind, count, iter(lambda: dice.choice(values), ...), topic=name)


@given(one=slices_(), bytes_max=st.integers(1, 6_000), dice=st.randoms(use_true_random=False))
def test_any_cutting_and_any_order_gives_the_slice_back(one, bytes_max, dice):
    sent = encoded([one], bytes_max=bytes_max)
    assert len({record.key for record in sent}) == 1
    # One partition is never cut, however long its numbers are.
    for record, row in zip(sent, parsed(sent), strict=True):
        assert len(row["partition"]) == 1 or len(record.value) <= bytes_max
    rows = parsed(sent)
    assert sum(len(row["partition"]) for row in rows) == len(one["partition"])
    twice = rows + [row for row in rows if dice.random() < 0.5]
    dice.shuffle(twice)
    assert only(whole(twice)) == one
    if len(rows) > 1:
        lost = dice.choice(rows)
        assert whole([row for row in twice if row != lost]) == {}


def test_a_slice_that_fits_travels_as_ever():
    (record,) = encoded([topic_slice(0, 5)])
    assert json.loads(record.value) == topic_slice(0, 5)


@pytest.mark.parametrize("kind", sorted(SLICE_ARRAYS))
def test_a_large_topic_is_cut_well_below_the_limit(kind):
    dice = random.Random(1)
    one = slice_of(kind, 100_000, iter(lambda: dice.randint(0, 2**40), ...))
    sent = encoded([one])
    sizes = [len(record.value) for record in sent]
    assert max(sizes) <= CHUNK_BYTES_MAX < TELEMETRY_MESSAGE_BYTES_MAX
    # None is cut smaller than it must be.
    assert min(sizes[:-1]) > CHUNK_BYTES_MAX * 0.99
    assert {(row["v"], row["chunks"]) for row in parsed(sent)} == {(2, len(sent))}
    assert [row["chunk"] for row in parsed(sent)] == list(range(len(sent)))
    assert only(whole(parsed(sent))) == one


def test_a_slice_that_was_cut_otherwise_is_another_one():
    """Of two cuttings neither of which is whole nothing is put together."""
    one = slice_of("topic", 4, iter(lambda: 10**15, ...))
    halves, quarters = parsed(encoded([one], bytes_max=520)), parsed(encoded([one], bytes_max=1))
    assert (len(halves), len(quarters)) == (2, 4)
    assert whole([halves[0], *quarters[1:]]) == {}
    assert only(whole([halves[1], *quarters])) == one


BROKEN = [
    *({"chunk": chunk} for chunk in (-1, 2, None, True, "0", 0.0)),
    *({"chunks": chunks} for chunks in (0, 1, 3, CHUNKS_MAX + 1, None, "2", [2])),
    {"v": 1},
    {"v": 3},
    {"kind": "share"},
    {"kind": ["topic"]},
    {"topic": {}},
    {"ts_ms": []},
    {"partition": 7},
    {"log_end_offset": None},
]


@pytest.mark.parametrize("wrong", BROKEN, ids=str)
def test_chunks_that_others_wrote_are_not_believed(wrong):
    one = slice_of("topic", 2, iter(lambda: 1, ...))
    first, second = parsed(encoded([one], bytes_max=1))
    assert only(whole([first, second])) == one
    assert whole([first, second | wrong]) == {}


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, {"kind": "topic"}])
def test_what_is_no_record_is_left_out(value):
    assert list(whole([value, topic_slice(0, 5)]).values()) == [topic_slice(0, 5)]


@pytest.fixture
def large(world, monkeypatch):
    """A topic of so many partitions, and a group that has read half of each."""
    # How long it takes is not what is tested here, and a busy machine takes longer.
    monkeypatch.setattr(collect, "SAMPLE_BUDGET_S", 600.0)
    world.gateway.add_topic("large", partitions=LARGE)
    for partition in world.gateway.topics["large"].partitions:
        partition.log_end = END
    halves = {TP("large", n): END // 2 for n in range(LARGE)}
    world.gateway.add_group("billing", halves, members=2)
    return world


def test_a_large_topic_is_sampled_and_judged(large, publishers):
    assert collect.collect_cluster(large.cluster.id)
    (publisher,) = publishers
    assert max(len(record.value) for record in publisher.records) <= CHUNK_BYTES_MAX
    rows = [row for row in parsed(publisher.records) if row["topic"] == "large"]
    assert len([row for row in rows if row["kind"] == "group"]) > 1
    found = whole(rows)
    assert {len(one["partition"]) for one in found.values()} == {LARGE}
    assert GroupVerdict.objects.get().lag_records == LARGE * END // 2
    # Slices, not the records that they are sent in.
    assert CollectorState.objects.get().slices == 3
    assert large.gateway.topics[TELEMETRY_TOPIC].configs["max.message.bytes"] == str(
        TELEMETRY_MESSAGE_BYTES_MAX
    )


class Killed(BaseException):
    """Raised where a process would be gone."""


@pytest.mark.parametrize("kept", ["some", "all"])
def test_a_sample_that_was_published_in_part_is_not_taken_up(large, publishers, monkeypatch, kept):
    """A collector dies between two chunks of the group's slice, or right after the last."""
    published = []
    monkeypatch.setattr(judge, "records_since", lambda *_, **__: whole(parsed(published)))
    assert collect.collect_cluster(large.cluster.id)
    here = collect._watches.pop(large.cluster.id)  # noqa: SLF001 - the other process has its own
    real = collect.TelemetryPublisher

    def dying(spec):
        made = real(spec)

        def publish(sent):
            published.extend(sent[:-1] if kept == "some" else sent)
            raise Killed

        made.publish = publish
        return made

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(collect, "TelemetryPublisher", dying)
        with pytest.raises(Killed):
            collect.collect_cluster(large.cluster.id)
    collect._watches[large.cluster.id] = here  # noqa: SLF001 - back in this process
    CollectorState.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    missed = []
    feed = type(here.judge.evaluator).feed
    monkeypatch.setattr(
        type(here.judge.evaluator),
        "feed",
        lambda self, rows: (rows := list(rows), missed.append(rows), feed(self, rows))[-1],
    )
    assert collect.collect_cluster(large.cluster.id)
    caught_up, own = missed
    kinds = {(row["kind"], row["topic"]) for row in caught_up}
    assert ("topic", "large") in kinds
    assert (("group", "large") in kinds) == (kept == "all")
    assert {len(row["partition"]) for row in caught_up if row["topic"] == "large"} == {LARGE}
    assert ("group", "large") in {(row["kind"], row["topic"]) for row in own}
    assert GroupVerdict.objects.get().lag_records == LARGE * END // 2
