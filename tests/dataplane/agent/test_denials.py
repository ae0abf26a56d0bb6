"""The audit log's denials, folded, whatever stands in it."""

from __future__ import annotations

import json

import pytest

from dataplane.agent.denials import OF_ONE_MAX, WINDOWS_MAX, read_denials
from dataplane.agent.pieces import WINDOW_BYTES, Piece
from dataplane.agent.questions import (
    ANSWER_BYTES_MAX,
    ATTEMPTS_MAX,
    DenialsQuery,
    QuestionError,
    encode_answer,
)
from dataplane.broker.metrics import Metrics
from dataplane.broker.security import audit_log
from dataplane.ports.fakes.clock import FakeClock


def piece(*rows, name="1"):
    content = b"".join(
        row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
    )
    return Piece(name, len(content), 5, lambda offset, length: content[offset : offset + length])


def denial(at_ms, **more):
    return {
        "time_ms": at_ms,
        "event": "denied",
        "principal": "User:ann",
        "host": "10.0.0.1",
        "listener": "PLAINTEXT",
        "api": "Fetch",
        "operation": "READ",
        "resource": "TOPIC:LITERAL:orders",
        "outcome": "DENIED",
        **more,
    }


def test_alike_ones_are_folded_with_their_first_and_last_the_newest_first():
    older, newer = piece(denial(1), denial(2)), piece(denial(3, principal="User:bob"), denial(4))
    found = read_denials([newer, older], DenialsQuery(10))
    assert [
        (row["principal"], row["count"], row["first_ms"], row["last_ms"])
        for row in found["attempts"]
    ] == [("User:ann", 3, 1, 4), ("User:bob", 1, 3, 3)]
    assert (found["since_ms"], found["is_whole"], found["held_back"]) == (1, True, 0)
    assert found["attempts"][0]["resource"] == "TOPIC:LITERAL:orders"


def test_other_lines_say_only_how_far_back_the_log_reaches():
    administered = {"time_ms": 1, "event": "administered", "principal": "User:ann"}
    found = read_denials([piece(administered, denial(2))], DenialsQuery(10))
    assert (found["since_ms"], len(found["attempts"])) == (1, 1)


def test_what_the_broker_held_back_is_counted():
    held = {"time_ms": 3, "event": "suppressed", "principal": "User:ann", "lines": 40}
    assert read_denials([piece(denial(2), held)], DenialsQuery(10))["held_back"] == 40


def test_more_than_asked_for_are_left_out_and_counted():
    rows = [denial(at, principal=f"User:{at}") for at in range(10)]
    found = read_denials([piece(*rows)], DenialsQuery(3))
    assert [row["principal"] for row in found["attempts"]] == ["User:9", "User:8", "User:7"]
    assert found["left_out"] == 7


def test_a_log_too_long_to_look_at_says_how_far_back_was_looked():
    one = json.dumps(denial(7)).encode() + b"\n"
    many = one * (WINDOW_BYTES * (WINDOWS_MAX + 1) // len(one))
    found = read_denials([piece(json.dumps(denial(1)).encode() + b"\n" + many)], DenialsQuery(9))
    assert (found["since_ms"], found["is_whole"]) == (7, False)


@pytest.mark.parametrize(
    "row",
    [
        b"",
        b"half a li",
        b"[" * 50_000 + b"\n",
        b"7\n",
        b"\xff\xfe\n",
        {"time_ms": "now", "event": "denied"},
        {"time_ms": True, "event": "denied"},
        {"time_ms": 10**30, "event": "denied"},
        {"time_ms": 1, "event": "suppressed", "lines": "many"},
        {"time_ms": 1, "event": ["denied"]},
    ],
)
def test_what_is_no_line_of_it_is_passed_over(row):
    found = read_denials([piece(denial(9), row)], DenialsQuery(9))
    assert [each["count"] for each in found["attempts"]] == [1]
    assert found["held_back"] == 0


def test_no_log_is_not_an_empty_one():
    assert read_denials([piece()], DenialsQuery(9))["since_ms"] is None
    with pytest.raises(QuestionError, match="no audit log"):
        read_denials([], DenialsQuery(9))


@pytest.mark.parametrize("unit", ["\x01", "😀", "\ud800", '"'])
def test_names_as_long_and_strange_as_strangers_like_stay_within_the_bound(unit):
    rows = [
        denial(at, principal=unit * 999, resource=unit * 900 + str(at), host=str(at) + unit * 999)
        for at in range(ATTEMPTS_MAX + 5)
    ]
    found = read_denials([piece(*rows)], DenialsQuery(ATTEMPTS_MAX))
    data = encode_answer(found, at_ms=1)
    assert len(data) < ANSWER_BYTES_MAX
    assert json.loads(data)["answer"]["attempts"]
    assert found["left_out"] >= 5


def test_who_tries_many_names_hides_nobody_else():
    flood = [
        denial(at + 2, principal="User:eve", resource=f"TOPIC:LITERAL:{at}") for at in range(400)
    ]
    found = read_denials([piece(denial(1), *flood)], DenialsQuery(ATTEMPTS_MAX))
    of = [row["principal"] for row in found["attempts"]]
    assert (of.count("User:eve"), of.count("User:ann")) == (OF_ONE_MAX, 1)
    assert found["left_out"] == 400 - OF_ONE_MAX


def test_it_reads_what_a_broker_writes(caplog):
    """One form, without a file between them."""
    caplog.set_level("INFO", logger=audit_log.LOGGER)
    audit = audit_log.AuditLog(FakeClock(), Metrics())

    class Asker:
        principal, client_host, listener_name = "User:ann", "10.0.0.1", "PLAINTEXT"

    audit.denied(Asker(), api="Fetch", operation="READ", resource="TOPIC:LITERAL:orders")
    audit.login_failed(Asker(), mechanism="PLAIN", user="eve", reason="no")
    rows = [record.getMessage().encode() + b"\n" for record in caplog.records]
    found = read_denials([piece(*rows)], DenialsQuery(9))
    assert [(row["event"], row["operation"], row["resource"]) for row in found["attempts"]] == [
        ("login-failed", "LOGIN", "User:eve"),
        ("denied", "READ", "TOPIC:LITERAL:orders"),
    ]
