"""Hostile connections are reported, and never more often than an operator can read."""

from __future__ import annotations

import asyncio
import logging

import pytest

from dataplane.broker.metrics import Metrics
from dataplane.server import rate_limited_log
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.server.rate_limited_log import HOSTS_MAX, INTERVAL_S, RateLimitedLog
from dataplane.server.socket_binding import bind
from tests.dataplane.server.test_connection import Scripted


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records]


def test_an_address_is_named_once_in_a_while_with_what_was_held_back(said) -> None:
    clock = Clock()
    complain = RateLimitedLog(logging.getLogger("test"), clock)
    for number in range(50):
        complain.warn("10.0.0.1", "closing %s: %s", "10.0.0.1", f"nonsense {number}")
    complain.warn("10.0.0.2", "closing %s: %s", "10.0.0.2", "oversized")
    assert said() == ["closing 10.0.0.1: nonsense 0", "closing 10.0.0.2: oversized"]
    clock.now_s += INTERVAL_S
    complain.warn("10.0.0.1", "closing %s: %s", "10.0.0.1", "again")
    complain.warn("10.0.0.2", "closing %s: %s", "10.0.0.2", "again")
    assert said()[2:] == [
        "closing 10.0.0.1: again; 49 more from 10.0.0.1",
        "closing 10.0.0.2: again",
    ]


def test_memory_and_log_stay_bounded_whoever_comes(said) -> None:
    clock = Clock()
    complain = RateLimitedLog(logging.getLogger("test"), clock)
    for number in range(5 * HOSTS_MAX):
        complain.warn(f"host-{number}", "closing %s", f"host-{number}")
    assert complain.host_count <= HOSTS_MAX + 1
    assert len(said()) <= HOSTS_MAX + 1
    clock.now_s += INTERVAL_S
    complain.warn("late", "closing %s", "late")
    assert said()[-1] == "closing late"
    assert complain.host_count == 1


async def test_frames_of_nonsense_are_all_counted_and_said_once(said) -> None:
    metrics = Metrics()
    listener = Listener(
        name="TEST",
        security_protocol="PLAINTEXT",
        dispatcher=Scripted(),  # type: ignore[arg-type]  # answers by a script
        metrics=metrics,
        limits=ListenerLimits(),
    )
    bound = bind("TEST", "127.0.0.1", 0)
    await listener.open(bound)
    port = bound.getsockname()[1]
    for _ in range(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"\xff\xff\xff\xffGET / HTTP/1.1")
        assert await reader.read() == b""
        writer.close()
    listener.stop_accepting()
    assert metrics.bad_frames.value == 20
    assert len([line for line in said() if "closing 127.0.0.1" in line]) == 1
    assert rate_limited_log.INTERVAL_S >= 1
