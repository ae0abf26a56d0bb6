"""The pace at which a lost Redis is looked for."""

import pytest
from kombu.utils import functional

from controlplane.celery import app
from controlplane.queue_link import LINE_INTERVAL_S
from tests.ports import free_row

TRIES = 40


class EnoughError(Exception):
    pass


@pytest.fixture
def waits(monkeypatch):
    """Seconds that each wait between two tries took, none of them really."""
    found = [0.0]

    def tried():
        if len(found) > TRIES:
            raise EnoughError
        found.append(0.0)

    def sleep(seconds):
        found[-1] += seconds

    monkeypatch.setattr(functional, "sleep", sleep)
    return found, tried


def lost(settings):
    return app.connection_for_read(f"redis://127.0.0.1:{free_row(1)}/0")


def test_the_wait_between_two_tries_does_not_grow(waits, settings, monkeypatch):
    found, tried = waits
    connection = lost(settings)
    connect = connection.transport.establish_connection

    def counted():
        tried()
        return connect()

    monkeypatch.setattr(connection.transport, "establish_connection", counted)
    with pytest.raises(EnoughError):
        connection.ensure_connection(None, app.conf.broker_connection_max_retries)
    assert set(found[1:-1]) == {settings.QUEUE_RECONNECT_S}
    assert len(found) > TRIES


def test_a_publisher_keeps_its_shorter_waits_and_its_bound(waits, settings):
    found, _ = waits
    with pytest.raises(Exception, match="refused"):
        lost(settings).ensure_connection(
            None, 2, interval_start=0.1, interval_step=0.2, interval_max=0.2
        )
    assert 0 < sum(found) <= 2 * settings.QUEUE_RECONNECT_S


def test_it_is_said_once_a_minute(waits, settings, monkeypatch):
    now_s, said = [0.0], []
    monkeypatch.setattr("controlplane.queue_link.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr(
        functional, "sleep", lambda seconds: now_s.__setitem__(0, now_s[0] + seconds)
    )
    with pytest.raises(Exception, match="refused"):
        lost(settings).ensure_connection(
            lambda error, wait_s: said.append((str(error), wait_s)),
            int(2.5 * LINE_INTERVAL_S / settings.QUEUE_RECONNECT_S),
        )
    assert len(said) == 3
    assert all("refused" in text and wait_s == settings.QUEUE_RECONNECT_S for text, wait_s in said)


def test_a_channel_that_was_collected_with_what_it_had_taken_does_not_end_the_worker(settings):
    """As when Redis is lost while a connection that was lost before is put away."""
    connection = lost(settings)
    channel = connection.transport.Channel
    collected = channel.__new__(channel)
    collected.close = lambda: collected.connection.client.hostname
    collected.connection = connection.transport
    collected.connection.client = None
    with pytest.raises(AttributeError):
        collected.close()
    connection.maybe_close_channel(collected)
