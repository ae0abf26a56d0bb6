"""A partition's segments on one broker, as its host's agent lists them now."""

from typing import Any

from controlplane.clusters.host_answers import ask, asked_broker, known, unreadable
from controlplane.clusters.models import Cluster
from controlplane.clusters.questions import SEGMENTS, Answered, HostQuestion
from controlplane.clusters.reports import text_of, whole_of
from controlplane.clusters.selectors import key_of
from controlplane.common.problems import NotFound, Problem, Unavailable, field_problem
from controlplane.observed.readers import Reader
from controlplane.topics.selectors import topic_detail

PARTITION_DIGITS_MAX = 10
SEGMENTS_MAX, DIRECTORIES_MAX, NAME_MAX = 500, 8, 100
ROLES = ("current", "future")
Row = dict[str, Any]


def partition_of(text: str) -> int:
    """Of an address. Raises NotFound."""
    if not (text.isascii() and text.isdecimal() and len(text) <= PARTITION_DIGITS_MAX):
        raise NotFound("The partition was not found.")
    return int(text)


def partition_segments(
    reader: Reader,
    cluster: Cluster,
    topic: str,
    partition: int,
    *,
    broker: int | None,
    segments: int,
    before: int | None,
) -> Row:
    """{segments, next, broker, directories, answered_at_ms}; segments the newest first.

    A segment is {base_offset, size_bytes, modified_ms, role}; a directory {directory, role, total,
    total_bytes, other_bytes}. Without a `broker` it is the leader that is asked.

    Raises:
        NotFound: the reader does not see the topic, or it has no such partition.
        Invalid: the broker holds no replica of it.
        Unavailable: nothing is known, and why.
    """
    holders = _see(reader, topic, partition)
    asked = holders["leader"] if broker is None else broker
    if asked is None or asked < 0:
        raise Unavailable("The partition has no leader: name the broker to ask.", retryable=False)
    if asked not in holders["replicas"]:
        raise field_problem("/broker", f"broker {asked} holds no replica of this partition.")
    row = asked_broker(cluster, asked)
    args = {"topic": topic, "partition": partition, "segments": segments, "before": before}
    [answer] = ask(cluster, [HostQuestion(key_of(row), SEGMENTS, args)])
    found = known(answer)
    problem = unreadable()
    directories = _directories(found, problem)
    following, rows = _page(directories, problem)
    return {
        "segments": rows,
        "next": following,
        "broker": asked,
        "directories": [_directory(each) for each in directories],
        "answered_at_ms": found.at_ms,
    }


def _see(reader: Reader, topic: str, partition: int) -> Row:
    """The partition as last observed, if the reader sees its topic. Raises NotFound, Problem."""
    rows: list[Row] = topic_detail(reader, topic)["partitions"]
    found = next((row for row in rows if row["partition"] == partition), None)
    if found is None:
        raise NotFound("The partition was not found.")
    return found


def _directories(found: Answered, problem: Problem) -> list[Row]:
    rows = found.body.get("directories")
    if not isinstance(rows, list) or not rows or len(rows) > DIRECTORIES_MAX:
        raise problem
    for row in rows:
        if not isinstance(row, dict) or row.get("role") not in ROLES:
            raise problem
        if not isinstance(row.get("segments"), list):
            raise problem
    return rows


def _directory(row: Row) -> Row:
    numbers = ("total", "total_bytes", "other_bytes")
    return {
        "directory": text_of(row, "directory")[:NAME_MAX],
        "role": row["role"],
        **{name: whole_of(row, name) for name in numbers},
    }


def _page(directories: list[Row], problem: Problem) -> tuple[int | None, list[Row]]:
    """Down to where every directory was listed: the rest is on the next page."""
    nexts = [row.get("next") for row in directories]
    places = [place for place in nexts if place is not None]
    if any(not isinstance(place, int) or isinstance(place, bool) or place < 0 for place in places):
        raise problem
    following = max(places, default=None)
    rows = [
        _segment(each, row["role"], problem)
        for row in directories
        for each in row["segments"][:SEGMENTS_MAX]
    ]
    shown = [row for row in rows if following is None or row["base_offset"] >= following]
    return following, sorted(shown, key=lambda row: -row["base_offset"])


def _segment(row: Any, role: str, problem: Problem) -> Row:
    names = ("base_offset", "size_bytes", "modified_ms")
    numbers = {name: whole_of(row, name) for name in names} if isinstance(row, dict) else {}
    if not numbers or any(value is None or not 0 <= value < 1 << 63 for value in numbers.values()):
        raise problem
    return {**numbers, "role": role}
