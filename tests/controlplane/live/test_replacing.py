"""A broker of three goes on on a fourth host, while a producer with acks=all writes.

Four agents, each with a host of its own; workers are killed in the middle. Every acknowledged
record is read back afterwards, once and in order.
"""

import threading
import time

import pytest
from confluent_kafka import Producer

from tests.controlplane.live.clients import Clients
from tests.controlplane.live.conftest import OPEN, QUICK
from tests.controlplane.live.holds import AFTER, BEFORE
from tests.controlplane.live.service import LiveService, Refused, python
from tests.ports import free_row

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(300)]
HOSTS = tuple(f"host-{number}" for number in (1, 2, 3, 4))
PORTS = 4
WIPED_S = READ_S = 60.0
TOPIC = "t.moved"
OTHER = "127.0.0.2"


class FourHosts(LiveService):
    """One agent a host, each with a login, a key, a data directory and ports of its own."""

    def admit_hosts(self):
        """By one process: each begins with seconds of imports."""
        commands = [("zookeeper", "prepare", "--whole-server")]
        for host in HOSTS:
            key, login = (str(self.logins / f"{host}.{kind}") for kind in ("key", "properties"))
            commands += [
                ("secrets", "host-key", host, "--file", key),
                (
                    *("zookeeper", "host", host),
                    *("--connection", str(self.logins / "member.properties"), "--file", login),
                ),
            ]
        script = (
            "from django.core.management import call_command\n"
            f"for command in {commands!r}:\n"
            "    call_command(*command)\n"
        )
        self.manage("shell", "--verbosity", "0", "-c", script)

    def start_agents(self):
        self.first_ports = {host: free_row(PORTS) for host in HOSTS}
        for host in HOSTS:
            self.start_agent(host, "127.0.0.1")

    def start_agent(self, host, address):
        first = self.first_ports[host]
        self.spawn(
            f"agent-{host}",
            *python("-m", "dataplane"),
            *("agent", "--host-id", host, "--rack", f"rack-{host}"),
            *("--zookeeper", f"127.0.0.1:{self.zookeeper_port}"),
            *("--zookeeper-config", str(self.logins / f"{host}.properties")),
            *("--data-dir", str(self.directory / host)),
            *("--key-file", str(self.logins / f"{host}.key")),
            *("--address", address, "--port-range", f"{first}-{first + PORTS - 1}"),
        )

    def agent_again(self, host, address):
        """The next agent takes up the brokers of the one that was killed."""
        agent = self.processes.pop(f"agent-{host}")
        agent.kill()
        agent.wait(30)
        self.start_agent(host, address)

    def stop(self):
        """All at once: each stops the brokers that it runs first."""
        agents = [self.processes.pop(f"agent-{host}", None) for host in HOSTS]
        ending = [process for process in agents if process is not None]
        for process in ending:
            process.terminate()
        for process in ending:
            process.wait(30)
        super().stop()

    def hosts_with(self, broker):
        """Where the broker has anything on disk; tenants are not told of hosts."""
        return {host for host in HOSTS if self.left_by(broker, host).exists()}

    def left_by(self, broker, host):
        return self.directory / host / f"{self.cluster_id}-{broker}"


class Ledger:
    """Writes numbered records all the time, and notes where each acknowledged one stands."""

    def __init__(self, clients, topic):
        self.acknowledged = {}
        self.failures = []
        self._producer = Producer({**clients.config, "acks": "all", "enable.idempotence": True})
        self._topic = topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        number = 0
        while not self._stop.is_set():
            self._producer.produce(self._topic, value=str(number), on_delivery=self._noted)
            number += 1
            self._producer.poll(0.002)

    def _noted(self, error, message):
        if error:
            self.failures.append(error)
        else:
            self.acknowledged[int(message.value())] = message.partition(), message.offset()

    def stop(self):
        self._stop.set()
        self._thread.join(60)
        self.failures += ["not acknowledged"] * self._producer.flush(60)


def read_back(clients, count):
    """(partition, offset) by number, of everything in the topic; no number is there twice."""
    found = {}
    consumer = clients.consumer("accounts")
    consumer.subscribe([TOPIC])
    end_s = time.monotonic() + READ_S
    while len(found) < count:
        assert time.monotonic() < end_s, f"{len(found)} of {count} records"
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            assert int(message.value()) not in found, "a record twice"
            found[int(message.value())] = message.partition(), message.offset()
    consumer.close()
    return found


@pytest.fixture
def service(tmp_path):
    made = FourHosts(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def provision(service):
    body = {**OPEN, "name": "moved", "broker_count": 3, "config": QUICK, "confirm": True}
    ended = service.finish(service.post("/clusters", body)["operation"])
    assert ended["state"] == "succeeded", ended
    service.cluster_id = ended["cluster_id"]
    rule = {"principal": "User:everything", "operation": "ALL", "resource_name": "*"}
    acls = [{**rule, "resource_type": kind} for kind in ("TOPIC", "GROUP")]
    operation = service.run("user.create", username="everything", acls=acls)
    secret = service.post(f"/operations/{operation['id']}/secret")
    return Clients(service.get(f"/clusters/{service.cluster_id}")["bootstrap_servers"], secret)


def test_a_broker_moves_under_load_and_nothing_acknowledged_is_lost(service):
    clients = provision(service)
    created = service.run("topic.create", name=TOPIC, partitions=6, replication_factor=3)
    assert created["state"] == "succeeded", created
    (before,) = service.hosts_with(2)
    plan = service.plan("cluster.replace_broker", broker=2)
    assert plan["diff"]["way"] == "move"
    ledger = Ledger(clients, TOPIC)
    try:
        ended = service.run_through_kills(plan, ("leave", AFTER), ("begin", BEFORE))
    finally:
        ledger.stop()
    assert ended["state"] == "succeeded", ended
    assert not ledger.failures
    assert ledger.acknowledged

    end_s = time.monotonic() + WIPED_S
    while before in service.hosts_with(2):
        assert time.monotonic() < end_s, service.log_tail(f"agent-{before}")
        time.sleep(0.2)
    (after,) = service.hosts_with(2)
    assert (service.left_by(2, after) / "data").is_dir()
    # By its new address too: the cluster's addresses have followed.
    servers = service.get(f"/clusters/{service.cluster_id}")["bootstrap_servers"]
    assert f":{plan['diff']['after']['client_port']}" in servers
    assert f":{plan['diff']['before']['client_port']}" not in servers
    assert read_back(clients, len(ledger.acknowledged)) == ledger.acknowledged
    follows_its_host(service, clients, after)


def planned(service):
    """Null until the agent is back and has registered its address."""
    try:
        return service.plan("cluster.change_addresses", canary_s=0)
    except Refused as refused:
        if refused.problem["code"] == "nothing-to-do":
            return None
        raise


def follows_its_host(service, clients, host):
    """Its agent is started with another address: the broker listens and advertises there."""
    service.agent_again(host, OTHER)
    end_s = time.monotonic() + WIPED_S
    while (plan := planned(service)) is None:
        assert time.monotonic() < end_s, service.log_tail(f"agent-{host}")
        time.sleep(0.2)
    (row,) = plan["diff"]["brokers"]
    assert (row["id"], row["from_address"], row["to_address"]) == (2, "127.0.0.1", OTHER)
    ended = service.finish(service.confirm(plan))
    assert ended["state"] == "succeeded", ended
    consumer = clients.consumer("addresses")
    nodes = consumer.list_topics(timeout=30).brokers
    consumer.close()
    assert {node.id: node.host for node in nodes.values()}[2] == OTHER
    servers = service.get(f"/clusters/{service.cluster_id}")["bootstrap_servers"]
    assert f"{OTHER}:" in servers
