from pathlib import Path

import pytest

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.holds import AFTER
from tests.controlplane.live.service import LiveService

# What TLS adds has tests of its own; the others show that a cluster without it is one still.
OPEN = {"listener_security": "SASL_PLAINTEXT"}
QUICK = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "2"}


@pytest.fixture(scope="session")
def service(tmp_path_factory):
    """The service with a running cluster of three brokers, provisioned over REST."""
    directory = Path(tmp_path_factory.mktemp("live"))
    made = LiveService(directory)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def cluster(service):
    """Its worker is killed while the brokers start: provisioning must end right all the same."""
    service.holds.place("cluster.create", "processes", AFTER)
    body = {**OPEN, "name": "live", "broker_count": 3, "config": QUICK, "confirm": True}
    operation = service.post("/clusters", body)["operation"]
    held = service.holds.await_held()
    assert held["operation_id"] == operation["id"]
    assert service.operation(operation)["state"] == "running"
    service.kill_held(held)
    ended = service.finish(operation)
    assert len(set(service.holds.workers_of(operation["id"]))) > 1
    assert ended["state"] == "succeeded", ended
    service.cluster_id = ended["cluster_id"]
    return service.get(f"/clusters/{service.cluster_id}")


@pytest.fixture(scope="session")
def clients(service, cluster):
    """A client that may do everything, made by an ordinary operation."""
    acls = [
        {
            "principal": "User:everything",
            "operation": "ALL",
            "resource_type": kind,
            "resource_name": "*",
        }
        for kind in ("TOPIC", "GROUP")
    ]
    operation = service.run("user.create", username="everything", acls=acls)
    secret = service.post(f"/operations/{operation['id']}/secret")
    return Clients(cluster["bootstrap_servers"], secret)
