"""What a process does in threads beside its work goes on after any trouble with the database."""

import threading

import pytest
from django.db import InterfaceError, OperationalError

from controlplane import upkeep
from controlplane.operations import outbox

ERRORS = [OperationalError, InterfaceError]


class Enough(BaseException):
    """Ends a loop that has no end."""


def failing_once(error, then):
    """A function that fails by `error`, then does `then`."""
    calls = []

    def call(*_):
        calls.append(None)
        if len(calls) == 1:
            raise error("the connection is lost")
        then()

    return call


@pytest.mark.parametrize("error", ERRORS)
def test_the_outbox_is_drained_when_asked_again(monkeypatch, error):
    wanted = threading.Event()
    wanted.set()
    drained = []

    def drain():
        drained.append(None)
        raise Enough

    def close():
        wanted.set()  # somebody asks again

    monkeypatch.setattr(outbox, "drain", failing_once(error, drain))
    monkeypatch.setattr(outbox.connection, "close", close)
    with pytest.raises(Enough):
        outbox.drain_when(wanted)
    assert drained == [None]


@pytest.mark.parametrize("error", ERRORS)
def test_upkeep_goes_on(monkeypatch, error):
    tidied = []

    def tidy():
        tidied.append(None)
        raise Enough

    monkeypatch.setattr(upkeep.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(upkeep, "TIDY_INTERVAL_S", -1.0)
    monkeypatch.setattr(upkeep.TALLY, "flush", lambda: True)
    monkeypatch.setattr(upkeep.connection, "close", lambda: None)
    monkeypatch.setattr(upkeep.connections, "tidy", failing_once(error, tidy))
    with pytest.raises(Enough):
        upkeep.run()
    assert tidied == [None]
