"""The pure parts of `make bench-console`: what counts as news, and what a limit says."""

import json

from tests.bench.console.figures import Figure, Read, by_kind, judge_reads, percentile


def read(url, body, status=200):
    return Read(url, status, None if body is None else json.dumps(body).encode())


def test_the_same_state_a_moment_later_is_no_news():
    reads = judge_reads(
        [
            read("/a", {"parts": {"x": {"as_of": "1", "data": [1]}}}),
            read("/a", {"parts": {"x": {"as_of": "2", "data": [1]}}}),
            read("/a", {"parts": {"x": {"as_of": "3", "data": [2]}}}),
            read("/b", {"data": []}),
            read("/b", None, 304),
        ]
    )
    assert (reads.total, reads.repeated, reads.not_modified, reads.nothing_new) == (5, 1, 1, 2)


def test_what_is_no_json_is_compared_whole():
    reads = judge_reads([Read("/a", 200, b"x,y"), Read("/a", 200, b"x,y"), Read("/a", 200, b"x,z")])
    assert reads.nothing_new == 1


def test_limits_say_on_which_side_they_are():
    assert Figure("a", 199.0, "kB", 200.0).verdict == "<= 200  ok"
    assert Figure("a", 201.0, "kB", 200.0).verdict == "<= 200  MISSED"
    assert Figure("a", 59.0, "frames/s", 58.0, at_least=True).verdict == ">= 58  ok"
    assert Figure("a", 30.0, "frames/s", 58.0, at_least=True).verdict.endswith("MISSED")
    assert Figure("a", 30.0, "frames/s").verdict == ""


def test_bytes_are_added_up_by_what_they_are():
    sizes = [("Script", 10), ("Script", 5), ("Font", 7), ("XHR", 1), ("Fetch", 2), ("Ping", 4)]
    assert by_kind(sizes) == {"scripts": 15, "fonts": 7, "data": 3, "other": 4}


def test_a_percentile_is_one_of_the_values():
    assert percentile(range(100), 0.95) == 95
    assert percentile([], 0.95) == 0.0
