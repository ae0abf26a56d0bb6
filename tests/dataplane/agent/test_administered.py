"""The audit log's changes, of an allowed few, whatever stands in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dataplane.agent.administered import (
    LEFT_OUT_MAX,
    OPERATIONS,
    PART_MAX,
    read_administered,
)
from dataplane.agent.pieces import Piece
from dataplane.agent.questions import (
    ANSWER_BYTES_MAX,
    CHANGES_MAX,
    AdministeredQuery,
    QuestionError,
    decode_question,
    encode_answer,
)
from dataplane.broker.security import audit_log
from dataplane.handlers import audit_entries


def piece(*rows, name="1"):
    content = b"".join(
        row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
    )
    return Piece(name, len(content), 5, lambda offset, length: content[offset : offset + length])


def change(at_ms, **more):
    return {
        "time_ms": at_ms,
        "event": "administered",
        "principal": "User:ann",
        "host": "10.0.0.1",
        "listener": "PLAINTEXT",
        "api": "IncrementalAlterConfigs",
        "operation": "ALTER_CONFIGS",
        "resource": "Topic:orders",
        "outcome": "SUCCESS",
        "detail": "retention.ms",
        **more,
    }


def test_the_newest_first_since_the_moment_that_is_asked_for():
    older, newer = piece(change(1), change(5)), piece(change(7, principal="User:bob"))
    found = read_administered([newer, older], AdministeredQuery(10, 5))
    assert [(row["at_ms"], row["principal"]) for row in found["changes"]] == [
        (7, "User:bob"),
        (5, "User:ann"),
    ]
    assert found["changes"][0] == {
        "at_ms": 7,
        "principal": "User:bob",
        "host": "10.0.0.1",
        "operation": "ALTER_CONFIGS",
        "resource": "Topic:orders",
        "detail": "retention.ms",
    }
    assert (found["is_whole"], found["since_ms"], found["left_out"]) == (True, 1, 0)


def test_what_failed_was_denied_or_is_of_another_kind_is_no_change():
    rows = [
        change(1, outcome="TOPIC_AUTHORIZATION_FAILED"),
        change(2, event="denied"),
        change(3, operation="ELECT"),
        b"half a li",
        b"\n[1]\n",
        change(4, time_ms="soon"),
    ]
    found = read_administered([piece(*rows)], AdministeredQuery(10, 0))
    assert (found["changes"], found["since_ms"]) == ([], 1)


def test_an_answer_is_bounded_and_says_what_it_leaves_out():
    rows = [change(at, detail="k" * 5_000) for at in range(CHANGES_MAX + 50)]
    found = read_administered([piece(*rows)], AdministeredQuery(10**6, 0))
    assert len(found["changes"]) <= CHANGES_MAX
    assert found["left_out"] == len(rows), "of those that are there the last keys are not"
    assert len(found["changes"][0]["detail"]) == PART_MAX
    assert len(encode_answer(found, at_ms=1)) < ANSWER_BYTES_MAX


def held_back(at_ms, lines=1):
    return {
        "time_ms": at_ms,
        "event": "suppressed",
        "principal": "User:eve",
        "host": "10.0.0.9",
        "lines": lines,
    }


def test_what_the_broker_held_back_since_then_is_left_out():
    """Who hides a change behind a hundred others of the same second is not overlooked."""
    log = piece(held_back(3, 8), change(5), held_back(6, 2), held_back(7, 4), held_back(8, "x"))
    found = read_administered([log], AdministeredQuery(10, 4))
    assert (len(found["changes"]), found["left_out"]) == (1, 7)
    assert found["is_whole"] is True
    many = piece(held_back(5, 10**9), held_back(6, 10**9))
    assert read_administered([many], AdministeredQuery(10, 4))["left_out"] == LEFT_OUT_MAX


@pytest.mark.parametrize(
    ("detail", "left_out"), [("k" * PART_MAX, 0), ("k" * PART_MAX + ",l", 1), ("", 0)]
)
def test_a_change_whose_last_keys_are_not_there_counts_as_left_out(detail, left_out):
    found = read_administered([piece(change(5, detail=detail))], AdministeredQuery(10, 0))
    assert (len(found["changes"]), found["left_out"]) == (1, left_out)
    assert len(found["changes"][0]["detail"]) <= PART_MAX


def test_a_line_s_parts_are_cut_by_the_log_after_they_are_cut_here():
    """Else one that the log has cut would pass for whole."""
    assert PART_MAX < audit_log.TEXT_MAX
    assert held_back(1)["event"] == audit_log.SUPPRESSED


def test_without_a_log_nothing_is_known():
    with pytest.raises(QuestionError, match="no audit log"):
        read_administered([], AdministeredQuery(10, 0))


def test_its_operations_are_those_of_the_audit_log():
    source = Path(audit_entries.__file__).read_text()
    assert [each for each in sorted(OPERATIONS) if f'"{each}"' not in source] == []


@pytest.mark.parametrize(
    "args", [{}, {"changes": 0, "since_ms": 0}, {"changes": 10**6, "since_ms": 0}, {"changes": 1}]
)
def test_a_question_is_checked(args):
    row = {"v": 1, "kind": "administered", "broker": "c-1", "wait_ms": 100, "args": args}
    with pytest.raises(QuestionError):
        decode_question(json.dumps(row).encode())
    row["args"] = {"changes": 5, "since_ms": 3}
    assert decode_question(json.dumps(row).encode()).query == AdministeredQuery(5, 3)
