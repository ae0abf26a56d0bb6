"""A partition's segments from its directory, whatever its topic is called and whatever lies there."""

from __future__ import annotations

import json

import pytest

from dataplane.agent import partition_files
from dataplane.agent.questions import QuestionError, SegmentsQuery, decode_question
from dataplane.agent.segments import FileFacts, holds, read_segments


def test_segments_come_newest_first_by_pages_with_totals():
    files = [FileFacts(f"{base:020}.log", base + 1, 7) for base in (0, 10, 20)]
    others = [FileFacts(f"{0:020}.index", 5, 7), FileFacts("leader-epoch-checkpoint", 3, 7)]
    first = read_segments([*files, *others], SegmentsQuery("t", 0, 2))
    assert [row["base_offset"] for row in first["segments"]] == [20, 10]
    assert first["segments"][0] == {"base_offset": 20, "size_bytes": 21, "modified_ms": 7}
    assert (first["total"], first["total_bytes"], first["other_bytes"]) == (3, 33, 8)
    rest = read_segments(files, SegmentsQuery("t", 0, 2, first["next"]))
    assert [row["base_offset"] for row in rest["segments"]] == [0]
    assert rest["next"] is None


@pytest.mark.parametrize(
    ("directory", "role"),
    [
        ("a-b-1", "current"),
        (f"a-b-1.{'0' * 32}-future", "future"),
        (f"a-b-1.{'0' * 32}-delete", None),
        ("a-b-11", None),
        ("a-b-1.x-future", None),
        ("xa-b-1", None),
        ("a-b", None),
    ],
)
def test_only_its_own_directories_are_a_partitions(directory, role):
    assert holds(directory, SegmentsQuery("a-b", 1, 5)) == role


@pytest.mark.parametrize(
    "args",
    [
        {"topic": "../t"},
        {"topic": "/etc"},
        {"topic": ".."},
        {"topic": "."},
        {"topic": ""},
        {"topic": "a\n"},
        {"topic": "a\0"},
        {"topic": "x" * 250},
        {"topic": "ünter"},
        {"topic": 7},
        {"partition": -1},
        {"partition": "0/../1"},
        {"partition": 2**31},
        {"segments": 0},
        {"segments": 501},
        {"before": -1},
        {"before": "x"},
    ],
)
def test_names_that_lead_elsewhere_are_no_question(args):
    row = {"topic": "t", "partition": 0, "segments": 5, **args}
    asked = {"v": 1, "kind": "segments", "broker": "kc-1", "wait_ms": 1, "args": row}
    with pytest.raises(QuestionError):
        decode_question(json.dumps(asked).encode())


def test_a_directory_is_read_without_leaving_it(tmp_path):
    log_dir, secret = tmp_path / "data", tmp_path / "secret"
    held = log_dir / "t-0"
    held.mkdir(parents=True)
    (held / f"{0:020}.log").write_bytes(b"12345")
    secret.mkdir()
    (secret / f"{7:020}.log").write_bytes(b"x" * 999)
    (held / f"{8:020}.log").symlink_to(secret / f"{7:020}.log")
    (log_dir / "u-0").symlink_to(secret)
    [found] = partition_files.read(log_dir, SegmentsQuery("t", 0, 9))["directories"]
    assert (found["directory"], found["role"], found["total"]) == ("data", "current", 1)
    assert found["segments"][0]["size_bytes"] == 5
    assert found["segments"][0]["modified_ms"] > 1_600_000_000_000
    for name in ("u", "v"):
        with pytest.raises(QuestionError, match="no replica"):
            partition_files.read(log_dir, SegmentsQuery(name, 0, 9))
    with pytest.raises(QuestionError, match="no log directory"):
        partition_files.read(tmp_path / "none", SegmentsQuery("t", 0, 9))
