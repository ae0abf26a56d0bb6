"""An ensemble of three is reached by another connect string, while a producer with acks=all writes.

The cluster begins with the address of one member, below a chroot, and goes over to those of the two
others; then the first member is killed, so that whoever still used it would be seen.
"""

import subprocess
import time

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.local import zookeeper_logins
from tests.controlplane.live.service import REPOSITORY, LiveService, Refused, python
from tests.controlplane.live.test_replacing import TOPIC, Ledger, provision, read_back
from tests.zookeeper_ensemble import ZooKeeperEnsemble

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.slow,
    pytest.mark.timeout(600),
]
CHROOT = "/moved"
REGISTERED_S = 60.0
NOT_YET = {"agents-away", "agents-disagree", "nothing-to-do"}


class OnAnEnsemble(LiveService):
    """One host with all brokers; ZooKeeper is three servers that ask for logins."""

    def __init__(self, directory):
        super().__init__(directory)
        users = zookeeper_logins.ensure(self.logins)
        self.ensemble = ZooKeeperEnsemble(directory / "ensemble", users=users)
        first, *others = self.ensemble.connect_string.split(",")
        self.old, self.new = f"{first}{CHROOT}", f"{','.join(others)}{CHROOT}"
        self.connect = self.old
        self.environment["PENSTOCK_ZOOKEEPER"] = self.old

    def start_zookeeper(self):
        for number in (1, 2, 3):
            self.ensemble.start(number)
        self.ensemble.wait_until_serving()

    def admit_host(self):
        self.manage("zookeeper", "prepare")
        self.manage(
            *("zookeeper", "host", "host-1"),
            *("--connection", str(self.logins / "member.properties")),
            *("--file", str(self.logins / "host-1.properties")),
        )

    def agent_command(self, connect):
        first, last = self.broker_ports
        return (
            *python("-m", "dataplane"),
            *("agent", "--host-id", "host-1", "--zookeeper", connect),
            *("--zookeeper-config", str(self.logins / "host-1.properties")),
            *("--data-dir", str(self.directory / "brokers")),
            *("--key-file", str(self.logins / "host-1.key")),
            *("--address", "127.0.0.1", "--port-range", f"{first}-{last}"),
        )

    def start_agent(self, _login, *_options):
        self.spawn("agent", *self.agent_command(self.connect))

    def stop(self):
        super().stop()
        self.ensemble.stop()

    def homes(self):
        return sorted((self.directory / "brokers").glob(f"{self.cluster_id}-*"))

    def strings(self):
        """By which each broker reaches ZooKeeper, as its file has it."""
        found = set()
        for home in self.homes():
            lines = (home / "broker.properties").read_text().splitlines()
            found |= {line for line in lines if line.startswith("zookeeper.connect=")}
        return found

    def pids(self):
        return [(home / "broker.pid").read_text() for home in self.homes()]


@pytest.fixture
def service(tmp_path):
    made = OnAnEnsemble(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def planned(service):
    """Null until the agent is back and has said its connect string."""
    try:
        return service.plan("cluster.change_zookeeper", canary_s=0)
    except Refused as refused:
        if refused.problem["code"] in NOT_YET:
            return None
        raise


def is_mistyped(service):
    """An agent with the string of another tree ends in one line; its brokers go on."""
    before = service.pids()
    wrong = service.new.replace(CHROOT, "/typo")
    ended = subprocess.run(
        service.agent_command(wrong),
        env=service.environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2, ended.stderr
    assert "is not this host's" in ended.stderr
    assert service.pids() == before


def test_a_cluster_goes_over_to_other_members_and_nothing_is_lost(service):
    clients = provision(service)
    path = f"/penstock/clusters/{service.cluster_id}"
    created = service.run("topic.create", name=TOPIC, partitions=6, replication_factor=3)
    assert created["state"] == "succeeded", created
    assert service.strings() == {f"zookeeper.connect={service.old}{path}"}
    ledger = Ledger(clients, TOPIC)
    try:
        service.kill("agent")
        is_mistyped(service)
        service.connect = service.new
        service.start_agents()
        end_s = time.monotonic() + REGISTERED_S
        while (plan := planned(service)) is None:
            assert time.monotonic() < end_s, service.log_tail("agent")
            time.sleep(0.2)
        assert service.strings() == {f"zookeeper.connect={service.old}{path}"}, "not by itself"
        assert len(plan["diff"]["brokers"]) == 3
        ended = service.finish(service.confirm(plan), timeout_s=300.0)
        assert ended["state"] == "succeeded", ended
        assert service.strings() == {f"zookeeper.connect={service.new}{path}"}
        service.ensemble.kill(1)
        # The controller makes it in ZooKeeper.
        admin = AdminClient(clients.config)
        made = admin.create_topics(
            [NewTopic("t.after", num_partitions=1, replication_factor=3)], request_timeout=60
        )
        made["t.after"].result(90)
    finally:
        ledger.stop()
    assert not ledger.failures
    assert ledger.acknowledged
    assert read_back(clients, len(ledger.acknowledged)) == ledger.acknowledged
