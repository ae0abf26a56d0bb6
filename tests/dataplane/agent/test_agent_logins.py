"""As which clusters an agent acts, and for how long."""

from __future__ import annotations

import pytest

from dataplane.agent.zookeeper import AgentZooKeeper
from dataplane.ports.coordinator import NotAuthorizedError
from zookeeper_access import keys


def secret(cluster, password="secret-secret-1"):
    return {keys.ACL_USERNAME: cluster, keys.ACL_PASSWORD: password}


class Session:
    """Who it acts as, by name and password."""

    def __init__(self):
        self.logins = []
        self.refuses = False

    async def authenticate(self, login):
        login.held_by(lambda back: self.logins.remove((back.username, back.password)))
        self.logins.append((login.username, login.password))
        if self.refuses:
            raise NotAuthorizedError("no")


async def test_a_login_is_held_as_long_as_a_broker_of_the_host_needs_it():
    session = Session()
    zookeeper = AgentZooKeeper({}, session.authenticate)
    for broker in ("kc_a-1", "kc_a-2", "kc_a-1"):
        await zookeeper.log_in_for(broker, secret("kc_a"))
    await zookeeper.log_in_for("kc_b-1", secret("kc_b"))
    assert session.logins == [("kc_a", "secret-secret-1"), ("kc_b", "secret-secret-1")]
    zookeeper.log_out_for("kc_a-1")
    zookeeper.log_out_for("kc_a-1")
    assert len(session.logins) == 2
    zookeeper.log_out_for("kc_a-2")
    assert session.logins == [("kc_b", "secret-secret-1")]
    zookeeper.log_out_for("never-seen")
    await zookeeper.log_in_for("kc_a-2", secret("kc_a"))
    assert len(session.logins) == 2


async def test_a_login_before_a_rotation_is_held_until_the_broker_runs_with_the_new_one():
    session = Session()
    zookeeper = AgentZooKeeper({}, session.authenticate)
    old, new = secret("kc_a", "the-one-before-1"), secret("kc_a", "the-one-after-1")
    for broker in ("kc_a-1", "kc_a-2"):
        await zookeeper.log_in_for(broker, old)
    await zookeeper.log_in_for("kc_a-1", new)
    zookeeper.log_out_for("kc_a-1", but=new)
    assert [password for _, password in session.logins] == ["the-one-before-1", "the-one-after-1"]
    await zookeeper.log_in_for("kc_a-2", new)
    zookeeper.log_out_for("kc_a-2", but=new)
    assert session.logins == [("kc_a", "the-one-after-1")]


async def test_a_login_that_was_refused_is_tried_again_by_the_next():
    session = Session()
    zookeeper = AgentZooKeeper({}, session.authenticate)
    session.refuses = True
    with pytest.raises(NotAuthorizedError):
        await zookeeper.log_in_for("kc_a-1", secret("kc_a"))
    assert session.logins == []
    session.refuses = False
    await zookeeper.log_in_for("kc_a-1", secret("kc_a"))
    assert len(session.logins) == 1


async def test_a_broker_without_a_login_is_nothing_to_log_in_for():
    session = Session()
    zookeeper = AgentZooKeeper({}, session.authenticate)
    await zookeeper.log_in_for("kc_a-1", {"num.partitions": "5"})
    assert session.logins == []
