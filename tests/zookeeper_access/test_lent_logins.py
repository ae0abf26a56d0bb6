"""Logins that are taken back, on a real ZooKeeper: they open something until then, and no longer."""

from __future__ import annotations

import logging

import pytest
from kazoo.exceptions import NoAuthError
from kazoo.protocol.states import KazooState

from dataplane.runtime.embedded_zookeeper import EmbeddedZooKeeper
from tests.waiting import wait_until
from zookeeper_access.client import AccessClient
from zookeeper_access.settings import LentLogin, Login, ZooKeeperAccess

pytestmark = pytest.mark.cluster

USERS = {"member": "member-secret-1"}
HOST = Login("host-1", "host-1-secret-1")
NODE = "/kc_a"


def lent(password="kc_a-secret-1"):
    return LentLogin("kc_a", password)


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory):
    server = EmbeddedZooKeeper(tmp_path_factory.mktemp("zk"), fsync=False, users=USERS)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def connect(zookeeper):
    opened = []

    def open_session(identity):
        access = ZooKeeperAccess(
            sasl=Login("member", USERS["member"]), identity=identity, set_acl=True
        )
        logger = logging.getLogger("kazoo.client")
        opened.append(AccessClient(zookeeper.connect_string, access, logger=logger))
        opened[-1].start(10)
        return opened[-1]

    yield open_session
    for client in opened:
        client.stop()
        client.close()


@pytest.fixture
def node(connect):
    """The cluster's, closed to everybody else."""
    owner = connect(Login("kc_a", "kc_a-secret-1"))
    owner.create(NODE, b"mine")
    yield NODE
    owner.delete(NODE)


def take_on(client, login):
    client.remember(login)
    client.authenticate(login).get(timeout=5)


def followed(client):
    states = []
    client.add_listener(states.append)
    return states


def until_connected_again(states):
    wait_until(lambda: states[-1:] == [KazooState.CONNECTED])


def test_what_is_taken_back_opens_nothing_and_the_session_goes_on(connect, node):
    agent = connect(HOST)
    agent.create("/alive", ephemeral=True)
    login = lent()
    take_on(agent, login)
    assert agent.get(node)[0] == b"mine"
    states, session = followed(agent), agent.client_id
    login.take_back()
    until_connected_again(states)
    assert states == [KazooState.SUSPENDED, KazooState.CONNECTED]
    with pytest.raises(NoAuthError):
        agent.get(node)
    # As itself it goes on, in the same session.
    assert agent.client_id == session
    assert agent.get("/alive")[1].ephemeralOwner == session[0]
    login.take_back()  # once more is nothing more
    agent.get("/alive")
    assert len(states) == 2
    agent.delete("/alive")


def test_what_was_asked_before_is_done_as_that_login_and_answered(connect, node):
    agent = connect(HOST)
    login = lent()
    take_on(agent, login)
    states = followed(agent)
    asked = [agent.set_async(node, b"%d" % number) for number in range(500)]
    login.take_back()
    assert [each.get(timeout=10).version for each in asked] == list(range(1, 501))
    until_connected_again(states)
    with pytest.raises(NoAuthError):
        agent.set(node, b"mine")


def test_one_login_of_two_is_taken_back(connect, node):
    agent = connect(HOST)
    old, new = lent("the-one-before-1"), lent()
    for login in (old, new):
        take_on(agent, login)
    states = followed(agent)
    old.take_back()
    until_connected_again(states)
    assert agent.get(node)[0] == b"mine"
    new.take_back()
    wait_until(lambda: len(states) == 4)
    with pytest.raises(NoAuthError):
        agent.get(node)


def test_a_login_that_is_taken_back_without_a_connection_is_not_sent_with_the_next(
    connect, zookeeper
):
    owner = connect(Login("kc_b", "kc_b-secret-1"))
    owner.create("/kc_b")
    agent = connect(HOST)
    login = LentLogin("kc_b", "kc_b-secret-1")
    take_on(agent, login)
    agent.get("/kc_b")
    states = followed(agent)
    zookeeper.stop()
    try:
        wait_until(lambda: states == [KazooState.SUSPENDED])
        login.take_back()
    finally:
        zookeeper.start()
    until_connected_again(states)
    with pytest.raises(NoAuthError):
        agent.retry(agent.get, "/kc_b")
    owner.retry(owner.delete, "/kc_b")


def test_the_same_login_is_lent_again_at_once(connect, node):
    agent = connect(HOST)
    first, second = lent(), lent()
    take_on(agent, first)
    states = followed(agent)
    first.take_back()
    agent.remember(second)
    until_connected_again(states)
    assert agent.retry(agent.get, node)[0] == b"mine"
