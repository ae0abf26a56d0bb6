"""Each governing verb from the console on the demo cluster, its worker killed in the middle.

`AFTER` a step: its effect is on the brokers, but not yet in the database.
"""

import os

import pytest

from controlplane.observed.services import LEASE
from tests.controlplane.live.clients import Clients
from tests.controlplane.live.holds import AFTER
from tests.e2e import flows
from tests.e2e.conftest import bootstrap_of
from tests.e2e.killed_worker import worker_killed_at
from tests.e2e.pages import Console, group_path, topic_path
from tests.e2e.rest import Rest, wait_for
from tests.e2e.service import LocalService
from tests.e2e.test_access import refused

pytestmark = pytest.mark.slow
OBSERVED_WITHIN_S = LEASE.total_seconds() + 30

NAME = f"e2e.killed-{os.getpid()}"
GROUP = f"e2e-killed-{os.getpid()}"
USER = f"e2e-killed-{os.getpid()}"


def confirm_and_kill(
    console: Console, rest: Rest, service: LocalService, kind: str, step: str
) -> str:
    """The plan under review, confirmed; its worker dies; the page shows the verified end."""
    with worker_killed_at(service, kind, step, AFTER) as kill:
        console.press_confirm()
        console.page.get_by_test_id("operation-live").wait_for()
        newest = rest.get(f"/api/v1/operations?cluster_id={console.cluster_id}")["data"][0]
        assert newest["kind"] == kind
        kill.strike(newest["id"])
    assert console.verified() == newest["id"]
    return str(newest["id"])


def test_a_topic(console: Console, rest: Rest, service: LocalService) -> None:
    flows.plan_topic(console, NAME)
    confirm_and_kill(console, rest, service, "topic.create", "create")
    assert rest.get(topic_path(console.cluster_id, NAME))["partitions"]
    rest.run("topic.delete", console.cluster_id, name=NAME)


def test_an_acl(console: Console, rest: Rest, service: LocalService) -> None:
    cluster_id = console.cluster_id
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    app = Clients(bootstrap_of(rest, cluster_id), rest.new_user(cluster_id, USER))
    assert refused(app, NAME)
    flows.plan_acls(console, USER, NAME)
    confirm_and_kill(console, rest, service, "acl.create", "create")
    wait_for(lambda: not refused(app, NAME), 20)
    rest.run("user.delete", cluster_id, username=USER)
    rest.run("topic.delete", cluster_id, name=NAME)


def test_a_move(console: Console, rest: Rest, clients: Clients, service: LocalService) -> None:
    cluster_id = console.cluster_id
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=2)
    clients.produce(NAME, 500, size=1000)
    path = topic_path(cluster_id, NAME)
    before = rest.get(path)["partitions"][0]["replicas"]
    (free,) = {1, 2, 3} - set(before)
    flows.plan_move(console, NAME, [before[0], free])
    operation_id = confirm_and_kill(console, rest, service, "reassignment", "move")
    assert rest.get(path)["partitions"][0]["replicas"] == [before[0], free]
    # The old broker deletes its replica a moment after the controller's StopReplica.
    wait_for(lambda: service.brokers_with(f"{NAME}-0") == {before[0], free}, 20)
    flows.undo(console, operation_id)
    assert rest.get(path)["partitions"][0]["replicas"] == before
    rest.run("topic.delete", cluster_id, name=NAME)


def test_a_reset(console: Console, rest: Rest, clients: Clients, service: LocalService) -> None:
    cluster_id = console.cluster_id
    rest.run("topic.create", cluster_id, name=NAME, partitions=1, replication_factor=3)
    clients.produce(NAME, 120)
    assert len(clients.read(NAME, GROUP, 120)) == 120
    flows.plan_reset(console, GROUP, 20)
    operation_id = confirm_and_kill(console, rest, service, "offset.reset", "commit")
    path = group_path(cluster_id, GROUP)
    assert rest.get(path)["offsets"][0]["committed"] == 20
    again = clients.read(NAME, GROUP, 100)
    assert again == [(0, offset) for offset in range(20, 120)]
    # What a client commits is seen at the next look, which waits for the lease of the killed
    # worker when that was looking.
    wait_for(lambda: rest.get(path)["offsets"][0]["committed"] == 120, OBSERVED_WITHIN_S)
    rest.run("offset.reset", cluster_id, group=GROUP, strategy="offset", value=20)
    newest = rest.get(f"/api/v1/operations?cluster_id={cluster_id}")["data"][0]
    assert newest["id"] != operation_id
    flows.undo(console, newest["id"])
    assert rest.get(path)["offsets"][0]["committed"] == 120
    rest.run("topic.delete", cluster_id, name=NAME)
