"""Files that end before they are whole, and readers that go away, under uvicorn as it is run."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncGenerator

import pytest
import uvicorn
from django.core.handlers.asgi import ASGIHandler
from django.test import override_settings
from django.urls import path

from controlplane.common.edge import guarded
from controlplane.common.problems import Forbidden
from controlplane.tenants import exports
from controlplane.tenants.exports import SEATS, ExportResponse
from tests.waiting import wait_until

TENANT = "tn_ends"
PIECES = 3
PATIENCE_S = 30.0


class Reading:
    """What a view sends, and what became of it."""

    def __init__(self):
        self.closed = threading.Event()
        self.is_endless = False

    async def lines(self) -> AsyncGenerator[str, None]:
        sent = 0
        try:
            while sent < PIECES or self.is_endless:
                sent += 1
                yield f"line {sent}\n"
                await asyncio.sleep(0)
        finally:
            self.closed.set()


READING = Reading()


def export(request):
    return ExportResponse(READING.lines(), None, TENANT, content_type="application/x-ndjson")


urlpatterns = [path("export", export)]


class Watch:
    """Says that the right has ended when it is asked the second time."""

    ends_at = 2

    def __init__(self, actor):
        self.asked = 0

    def check(self):
        self.asked += 1
        if self.asked == self.ends_at:
            raise Forbidden("The key was revoked.")


@pytest.fixture
def reading(monkeypatch):
    fresh = Reading()
    monkeypatch.setitem(globals(), "READING", fresh)
    monkeypatch.setattr(exports, "Watch", Watch)
    return fresh


@pytest.fixture
def served(reading, caplog):
    """The port of a server of this test."""
    caplog.set_level(logging.INFO)
    with override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[], ALLOWED_HOSTS=["*"]):
        config = uvicorn.Config(
            guarded(ASGIHandler()), lifespan="off", log_config=None, timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        listening = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
            listening.close()
    assert not thread.is_alive()


def asked(port):
    connection = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    connection.sendall(b"GET /export HTTP/1.1\r\nHost: x\r\n\r\n")
    return connection


def read_all(connection):
    """Until the server ends the connection, which it does with a file that is not whole."""
    found = b""
    while piece := connection.recv(65536):
        found += piece
    return found


def faults(records):
    return [
        (row.levelname, row.name, row.getMessage())
        for row in records
        if row.exc_info or row.levelno >= logging.WARNING
    ]


def test_a_file_that_ends_early_breaks_its_connection_and_logs_one_plain_line(served, caplog):
    with asked(served) as connection:
        answer = read_all(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert b"line 2" in body
    assert b'"ended": {"status": 403' in body
    assert b"line 3" not in body
    assert not body.endswith(b"0\r\n\r\n"), "no client takes it for whole"
    wait_until(lambda: SEATS.held(f"tenant/{TENANT}") == 0, "its seat is free again")
    assert faults(caplog.records) == []
    said = [
        row.getMessage() for row in caplog.records if row.name == "controlplane.tenants.exports"
    ]
    assert said == ["A file ends before it is whole: The key was revoked."]


def test_the_next_answer_of_the_server_is_whole(served, reading, caplog, monkeypatch):
    with asked(served) as connection:
        read_all(connection)
    monkeypatch.setattr(Watch, "ends_at", 0)
    with asked(served) as connection:
        answer = b""
        while not answer.endswith(b"0\r\n\r\n"):
            piece = connection.recv(65536)
            assert piece, "it was cut"
            answer += piece
    assert b"line 3" in answer
    assert faults(caplog.records) == []


def test_a_reader_that_goes_away_ends_the_reading_and_logs_no_fault(
    served, reading, caplog, monkeypatch
):
    monkeypatch.setattr(Watch, "ends_at", 0)
    reading.is_endless = True
    with asked(served) as connection:
        assert connection.recv(1024).startswith(b"HTTP/1.1 200")
    assert reading.closed.wait(PATIENCE_S), "what was open is closed"
    wait_until(lambda: SEATS.held(f"tenant/{TENANT}") == 0, "its seat is free again")
    assert faults(caplog.records) == []


def test_an_end_that_comes_when_the_reader_is_gone_is_no_fault_either(
    served, reading, caplog, monkeypatch
):
    may_end = threading.Event()

    class Late(Watch):
        def check(self):
            assert may_end.wait(PATIENCE_S)
            raise Forbidden("The key was revoked.")

    monkeypatch.setattr(exports, "Watch", Late)
    with asked(served) as connection:
        assert connection.recv(1024).startswith(b"HTTP/1.1 200")
    may_end.set()
    assert reading.closed.wait(PATIENCE_S)
    wait_until(lambda: SEATS.held(f"tenant/{TENANT}") == 0, "its seat is free again")
    assert faults(caplog.records) == []
