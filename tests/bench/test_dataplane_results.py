"""The pure parts of `make bench-dataplane`: medians, goals, the table, the checks of answers."""

from __future__ import annotations

import struct

import pytest

from dataplane.wire.record_batch import BatchHeader, validate_crc
from tests.bench.dataplane import frames, results
from tests.bench.dataplane.answers import FetchAnswers, ProduceAnswers, WrongAnswer
from tests.bench.dataplane.results import Row, client_share, percentile, short, spread
from tests.bench.dataplane.table import render, to_json


def test_a_ratio_is_taken_round_by_round() -> None:
    row = Row("x", "MB/s", [100.0, 10.0, 40.0], [50.0, 5.0, 80.0])
    assert row.ratios == [2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("ours", "kafka", "goal", "reached"),
    [
        ([3.0, 3.0, 0.1], [2.0, 2.0, 2.0], results.ratio_at_least(1.5), True),
        ([2.9], [2.0], results.ratio_at_least(1.5), False),
        ([1.0], [10.0], results.ratio_at_most(0.1), True),
        ([1.1], [10.0], results.ratio_at_most(0.1), False),
        ([4.0], [], results.value_at_most(5.0), True),
        ([99.0], [], results.value_at_least(100.0), False),
        ([4.0], [], results.ratio_at_most(0.5), None),
        ([4.0], [2.0], None, None),
    ],
)
def test_goals_are_judged_by_the_median(
    ours: list[float], kafka: list[float], goal: results.Goal | None, reached: bool | None
) -> None:
    assert Row("x", "s", ours, kafka, goal).is_reached is reached


@pytest.mark.parametrize(
    ("floor", "reached"), [([2.0, 2.0, 9.0], False), ([2.2], True), ([], None)]
)
def test_a_goal_may_be_set_beside_the_floor(floor: list[float], reached: bool | None) -> None:
    row = Row("x", "µs", [3.0, 3.0, 3.0], [30.0] * 3, results.floor_at_most(1.4), floor=floor)
    assert row.is_reached is reached
    assert row.floor_ratios == [3.0 / each for each in floor]
    assert row.ratios == [0.1, 0.1, 0.1]


def test_each_goal_says_what_it_is_of() -> None:
    goals = [results.ratio_at_least(1.5), results.floor_at_most(1.4), results.value_at_most(5)]
    assert [str(goal) for goal in goals] == ["≥ 1.5", "≤ 1.4 (floor)", "≤ 5 (itself)"]


def test_a_client_that_holds_its_broker_up_is_marked() -> None:
    samples = {
        "ours": [{"client": 20.0}, {"client": 97.2}, {"client": 95.4}],
        "kafka": [{"client": 89.4}],
    }
    assert client_share(samples) == "client 95!/89 %"


def test_percentile_is_by_nearest_rank() -> None:
    samples = [float(number) for number in range(100, 0, -1)]
    assert percentile(samples, 99) == 99.0
    assert percentile(samples, 50) == 50.0
    assert percentile([7.0], 99) == 7.0
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 99)


def test_numbers_are_short() -> None:
    assert [short(n) for n in (0, 0.0123, 0.123, 1.234, 12.34, 123.4, 12345.6)] == [
        "0",
        "0.012",
        "0.12",
        "1.23",
        "12.3",
        "123",
        "12,346",
    ]
    assert spread([]) == "–"
    assert spread([2.0]) == "2.00"
    assert spread([3.0, 1.0, 2.0]) == "2.00 (1.00–3.00)"


def test_the_table_shows_a_missed_goal_as_one() -> None:
    rows = [
        Row("fetch", "MB/s", [1.0], [2.0], results.ratio_at_least(0.9), "loopback 3"),
        Row("alone", "s", [1.0]),
    ]
    head, ruler, missed, alone = render(rows).splitlines()
    assert head.split() == [
        "figure",
        "unit",
        "ours",
        "Kafka",
        "floor",
        "of",
        "Kafka",
        "of",
        "floor",
        "goal",
        "reached",
        "machine's",
        "limit",
    ]
    assert set(ruler) == {"-", " "}
    assert missed.split()[-3:] == ["NO", "loopback", "3"]
    assert alone.split()[-3:] == ["–", "–", "–"]
    saved = to_json(rows, {"seconds": 1})
    assert saved["figures"][0]["is_reached"] is False
    assert saved["figures"][0]["ours"] == [1.0]
    assert saved["circumstances"] == {"seconds": 1}


@pytest.mark.parametrize("size", [200, 16 * 1024, 64 * 1024, 256 * 1024, 1024 * 1024])
def test_batches_just_fit(size: int) -> None:
    built, count = frames.batch(size)
    header = BatchHeader.parse(built)
    assert size * 0.95 <= len(built) <= size
    assert header.record_count == count == max(1, size // 1024)
    assert validate_crc(built)


def produce_answer(offset: int, error: int = 0, correlation_id: int = 7) -> bytes:
    body = struct.pack(">i", correlation_id) + struct.pack(">ih1si", 1, 1, b"t", 1)
    body += struct.pack(">ihqqqih", 0, error, offset, -1, 0, 0, -1) + struct.pack(">i", 0)
    return struct.pack(">i", len(body)) + body


def feed(answers: ProduceAnswers | FetchAnswers, data: bytes, step: int) -> int:
    count, position = 0, 0
    while position < len(data):
        free = answers.free()
        piece = data[position : position + min(step, len(free))]
        free[: len(piece)] = piece
        position += len(piece)
        count += answers.add(len(piece))
    return count


@pytest.mark.parametrize("step", [1, 3, 50, 1000])
def test_produce_answers_are_counted_however_they_arrive(step: int) -> None:
    data = b"".join(produce_answer(5 + 2 * number) for number in range(40))
    assert feed(ProduceAnswers(2, is_alone=True), data, step) == 40


@pytest.mark.parametrize(
    "bad",
    [
        produce_answer(4, error=6),
        produce_answer(4, correlation_id=8),
        produce_answer(5),
        produce_answer(4) + b"x" + produce_answer(6)[1:],
    ],
    ids=["an error code", "another request", "an offset too far", "another size"],
)
@pytest.mark.parametrize("step", [1, 1000])
def test_a_wrong_produce_answer_ends_the_run(bad: bytes, step: int) -> None:
    data = produce_answer(0) + produce_answer(2) + bad
    with pytest.raises(WrongAnswer):
        feed(ProduceAnswers(2, is_alone=True), data, step)


def test_shared_partitions_have_gaps_between_offsets() -> None:
    data = produce_answer(0) + produce_answer(50)
    assert feed(ProduceAnswers(2, is_alone=False), data, 1000) == 2


def fetch_answer(
    number: int, offset: int, size: int = 100, error: int = 0, whole_error: int = 0
) -> bytes:
    body = struct.pack(">iihi", number, 0, whole_error, 0) + struct.pack(">ih1si", 1, 1, b"t", 1)
    body += struct.pack(">ihqqqiii", 0, error, 900, 900, 0, -1, -1, size)
    body += struct.pack(">q", offset) + bytes(size - 8)
    return struct.pack(">i", len(body)) + body


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_fetch_answers_come_in_a_circle(step: int) -> None:
    answers = FetchAnswers([0, 10], 100)
    data = b"".join(fetch_answer(number % 2, number % 2 * 10) for number in range(5))
    assert feed(answers, data, step) == 5
    assert answers.payload_bytes == 500


@pytest.mark.parametrize(
    "bad",
    [
        fetch_answer(1, 0),
        fetch_answer(0, 10),
        fetch_answer(0, 0, size=99),
        fetch_answer(0, 0, error=1),
        fetch_answer(0, 0, whole_error=71),
        struct.pack(">i", 1 << 30),
    ],
    ids=["out of turn", "wrong offset", "short", "partition error", "error", "oversized"],
)
def test_a_wrong_fetch_answer_ends_the_run(bad: bytes) -> None:
    with pytest.raises(WrongAnswer):
        feed(FetchAnswers([0, 10], 100), bad, 1000)
