"""What an agent says of its host's capacity: a lie is unknown, and breaks nothing."""

import json

import pytest

from controlplane.clusters.capacity import (
    LABELS_MAX,
    PORTS_MAX,
    REPORT_BYTES_MAX,
    Capacity,
    parse_capacity,
    parse_labels,
    too_long,
)

SAID = {
    "v": 1,
    "disk_total_bytes": 1000,
    "disk_free_bytes": 250,
    "memory_total_bytes": 800,
    "memory_free_bytes": 400,
    "cores": 4,
    "load": 1.5,
    "ports_busy": [9, 7],
}
FIGURES = ("disk_total_bytes", "disk_free_bytes", "memory_total_bytes", "memory_free_bytes",
           "cores", "load", "ports_busy")  # fmt: skip
# As they come out of JSON, in which Python reads NaN and Infinity too.
LIES = [
    "NaN", "Infinity", "-Infinity", "1e300", "-1", "-0.5", "true", "null", '"12"', "[]", "{}",
    "1" + "0" * 400, "1" + "0" * 5000, '["1"]', "[0]", "[65536]", "[true]", "[1.5]",
]  # fmt: skip


def test_what_is_said_and_its_age():
    found = parse_capacity(json.dumps(SAID).encode(), reported_at_ms=10_000)
    assert (found.disk_free_share, found.load_per_core) == (0.25, 0.375)
    assert found.ports_busy == (7, 9)
    assert found.age_s(12_500) == 2.5
    assert found.age_s(9_000) == 0.0, "two machines' clocks differ"
    assert Capacity().age_s(1) is None


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_unknown(figure, lie):
    if (figure, lie) == ("ports_busy", "[]"):
        return  # none is busy
    text = json.dumps({**SAID, figure: "LIE"}).replace('"LIE"', lie)
    found = parse_capacity(text.encode(), reported_at_ms=1)
    assert getattr(found, figure) is None
    assert found.reported_at_ms == 1


def test_two_figures_that_contradict_each_other_are_both_unknown():
    found = parse_capacity(json.dumps({**SAID, "disk_free_bytes": 1001}).encode())
    assert (found.disk_total_bytes, found.disk_free_bytes) == (None, None)
    assert found.memory_free_bytes == 400


@pytest.mark.parametrize("data", [b"", b"[]", b"1", b"\xff", b"[" * 200_000, b"{"])
def test_what_is_no_object_says_nothing(data):
    found = parse_capacity(data, reported_at_ms=1)
    assert found == Capacity(reported_at_ms=1, problem="Its agent's report cannot be read.")


def test_a_report_that_is_too_long_is_not_read():
    found = too_long(10_000_000, reported_at_ms=1)
    assert found.problem == (
        f"Its agent's report has 10000000 bytes; at most {REPORT_BYTES_MAX} are read."
    )


def test_ports_are_few():
    text = json.dumps({**SAID, "ports_busy": list(range(1, PORTS_MAX + 2))})
    assert parse_capacity(text.encode()).ports_busy is None


@pytest.mark.parametrize("labels", [None, 3, "x", [], [["a", "b"]]])
def test_what_are_no_labels(labels):
    assert parse_labels({"labels": labels}) == ()


def test_labels_are_few_short_and_plain():
    bad = {"A": "x", "a b": "x", "": "x", "c": "", "d": 3, "e": "x\0", "f": "y" * 64, "g" * 64: "z",
           "h": "<b>"}  # fmt: skip
    assert parse_labels({"labels": {**bad, "disk": "nvme", "zone.a/b": "West 1:2"}}) == (
        ("disk", "nvme"), ("zone.a/b", "West 1:2"),
    )  # fmt: skip
    many = {f"k{number:03}": "v" for number in range(100)}
    assert len(parse_labels({"labels": many})) == LABELS_MAX
