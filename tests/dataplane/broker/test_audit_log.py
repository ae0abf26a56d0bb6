"""Lines of the audit log: what they say, that nobody forges one, and that nobody fills it."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dataplane.broker.context import ConnectionInfo
from dataplane.broker.metrics import Metrics
from dataplane.broker.security.audit_log import (
    ALL_LINES_MAX,
    LINES_MAX,
    LOGGER,
    SOURCES_MAX,
    WINDOW_MS,
    AuditLog,
)
from dataplane.ports.fakes.clock import FakeClock
from dataplane.security.principal import Principal


class Written:
    def __init__(self, caplog):
        self.clock, self.metrics, self._caplog = FakeClock(), Metrics(), caplog
        self.audit = AuditLog(self.clock, self.metrics)

    def deny(self, name="mallory", host="10.0.0.1", resource="TOPIC:LITERAL:t"):
        connection = ConnectionInfo("TLS", "SSL", host, Principal.user(name))
        self.audit.denied(connection, api="Produce", operation="WRITE", resource=resource)

    def lines(self):
        texts = [r.getMessage() for r in self._caplog.records if r.name == LOGGER]
        self._caplog.clear()
        assert not any("\n" in text or "\r" in text for text in texts)
        return [json.loads(text) for text in texts]


@pytest.fixture
def written(caplog):
    caplog.set_level(logging.INFO, LOGGER)
    return Written(caplog)


def test_a_line_says_who_was_denied_what(written):
    written.deny()
    assert written.lines() == [
        {
            "time_ms": 1_700_000_000_000,
            "event": "denied",
            "principal": "User:mallory",
            "host": "10.0.0.1",
            "listener": "TLS",
            "api": "Produce",
            "operation": "WRITE",
            "resource": "TOPIC:LITERAL:t",
            "outcome": "DENIED",
        }
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(name=st.text(max_size=3_000), host=st.text(max_size=50), resource=st.text(max_size=3_000))
def test_a_line_is_one_line_whatever_strangers_name(written, name, host, resource):
    written.clock.advance(WINDOW_MS)
    written.audit.flush()
    written.deny(name, host, resource)
    (line,) = written.lines()
    assert line["host"] == host
    assert f"User:{name}".startswith(line["principal"])
    assert resource.startswith(line["resource"])
    assert all(len(part) <= 1_000 for part in line.values() if isinstance(part, str))


def test_who_floods_it_is_cut_and_counted_and_hides_nobody(written):
    for _ in range(10 * LINES_MAX):
        written.deny()
    written.deny("other")
    lines = written.lines()
    assert [line["principal"] for line in lines] == ["User:mallory"] * LINES_MAX + ["User:other"]
    written.audit.flush()
    assert written.lines() == []
    written.clock.advance(WINDOW_MS)
    written.audit.flush()
    (line,) = written.lines()
    assert (line["event"], line["principal"]) == ("suppressed", "User:mallory")
    assert line["lines"] == 9 * LINES_MAX
    written.deny()
    assert len(written.lines()) == 1


def test_all_of_them_are_bounded_together(written):
    for number in range(3 * ALL_LINES_MAX):
        written.deny(f"user-{number}")
    assert len(written.lines()) == ALL_LINES_MAX
    suppressed = next(
        each for each in written.metrics.snapshot() if "audit_lines_suppressed" in each.name
    )
    assert suppressed.samples == (((), 2 * ALL_LINES_MAX),)
    written.clock.advance(WINDOW_MS)
    written.audit.flush()
    lines = written.lines()
    assert len(lines) <= LINES_MAX
    assert sum(line["lines"] for line in lines) == 2 * ALL_LINES_MAX
    assert lines[-1]["principal"] == "many principals"
    assert SOURCES_MAX <= ALL_LINES_MAX
