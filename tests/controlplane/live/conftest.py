import os
from pathlib import Path

import pytest

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.holds import AFTER
from tests.controlplane.live.service import LiveService
from tests.controlplane.live.stock_kafka import StockKafka

# What TLS adds has tests of its own; the others show that a cluster without it is one still.
OPEN = {"listener_security": "SASL_PLAINTEXT"}
# What is governed: `penstock`, brokers of ours that the service provisions; `kafka`, a stock Apache
# Kafka that it registers.
GOVERNED = os.environ.get("PENSTOCK_TEST_GOVERNED", "penstock")
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
def kafka(tmp_path_factory):
    """The stock Kafka, where that is what is governed; else None."""
    if GOVERNED != "kafka":
        yield None
        return
    made = StockKafka(Path(tmp_path_factory.mktemp("stock")) / "kafka")
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.fixture(scope="session")
def cluster(service, kafka):
    """Its worker is killed while it is added: that must end right all the same."""
    if kafka:
        return register(service, kafka)
    service.holds.place("cluster.create", "processes", AFTER)
    body = {**OPEN, "name": "live", "broker_count": 3, "config": QUICK, "confirm": True}
    return added(service, service.post("/clusters", body)["operation"])


def register(service, kafka):
    service.cluster_id = None
    plan = service.plan("cluster.register", **kafka.registration("live"))
    service.holds.place("cluster.register", "connect", AFTER)
    found = added(service, service.confirm(plan))
    service.ca_pem = kafka.ca_file.read_text()
    service.partitions_on = kafka.partitions_on
    return found


def added(service, operation):
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
    return Clients(cluster["bootstrap_servers"], secret, ca_pem=service.ca_pem)
