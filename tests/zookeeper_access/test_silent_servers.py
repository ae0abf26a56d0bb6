"""A server that does not answer costs a client a part of its session, and never all of it."""

from __future__ import annotations

import contextlib
import logging
import socket
import time

import pytest

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from zookeeper_access.client import TRIES_A_SESSION, TRY_MIN_S, AccessClient, try_s
from zookeeper_access.settings import ZooKeeperAccess

pytestmark = pytest.mark.cluster

SESSION_S = 18.0
"""As brokers have it; kazoo waited for all of it."""
SOON_S = 0.8 * SESSION_S


@pytest.fixture
def server(tmp_path):
    made = EmbeddedZooKeeper(tmp_path, fsync=False)
    yield made
    made.stop()


@pytest.fixture
def opened():
    made = []

    def open_client(hosts):
        logger = logging.getLogger("kazoo.client")
        made.append(
            AccessClient(
                hosts, ZooKeeperAccess(), logger=logger, timeout=SESSION_S, randomize_hosts=False
            )
        )
        return made[-1]

    yield open_client
    for client in made:
        client.stop()
        client.close()


def listener(host, port, backlog):
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((host, port))
    made.listen(backlog)
    return made


def fill(host, port):
    """Connect until nobody is let in any more; the queue keeps also who has gone."""
    with contextlib.suppress(TimeoutError):
        while True:
            socket.create_connection((host, port), 0.3).close()


def test_tries_fit_into_a_session():
    assert try_s(SESSION_S) * TRIES_A_SESSION == SESSION_S
    assert try_s(0.1) == TRY_MIN_S


def test_one_that_took_the_connection_while_it_started_is_asked_again(server, opened):
    """ZooKeeper's own does so now and then; here somebody else had its port until it started."""
    with listener(server.host, server.port, 8) as before:
        connected = opened(server.connect_string).start_async()
        silent, _ = before.accept()
    began_s = time.monotonic()
    with silent:
        server.start()
        assert connected.wait(began_s + SOON_S - time.monotonic())


def test_one_whose_host_does_not_answer_is_passed_by(server, opened):
    """What a host without power does with a SYN, a listener does whose queue is full."""
    server.start()
    with listener(server.host, 0, 0) as full:
        host, port = full.getsockname()
        fill(host, port)
        began_s = time.monotonic()
        connected = opened(f"{host}:{port},{server.connect_string}").start_async()
        assert connected.wait(began_s + SOON_S - time.monotonic())
