"""A managed cluster with TLS, with clients and brokers as strangers would bring them."""

import contextlib
import datetime as dt
import socket
import ssl
import subprocess
import time

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from cryptography import x509

from controlplane.clusters.certificates import authority_make
from tests.certificates import Authority
from tests.controlplane.live.clients import Clients
from tests.controlplane.live.conftest import QUICK
from tests.controlplane.live.service import REPOSITORY, python
from tests.ports import free_row

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(400)]

INTRUDER = 99
RENEW = """
import datetime as dt
from django.utils import timezone
from controlplane.clusters.models import Broker
from controlplane.clusters.renewal import renew_certificates
now = timezone.now()
Broker.objects.filter(broker_id=1, cluster_id="{}").update(
    certificate_ends_at=now + dt.timedelta(days=20))
print(renew_certificates(now))
"""


class Safe:
    """The cluster, its authority, and a user who may do everything."""

    def __init__(self, service):
        self.service = service
        body = {"name": "safe", "broker_count": 2, "config": QUICK, "confirm": True}
        ended = service.finish(service.post("/clusters", body)["operation"])
        assert ended["state"] == "succeeded", ended
        self.id = ended["cluster_id"]
        self.row = service.get(f"/clusters/{self.id}")
        assert self.row["security_protocol"] == "SASL_SSL"
        self.config = service.get(f"/clusters/{self.id}/client-config")
        acls = [
            {
                "principal": "User:app",
                "operation": "ALL",
                "resource_type": kind,
                "resource_name": "*" if kind != "CLUSTER" else "kafka-cluster",
            }
            for kind in ("TOPIC", "GROUP", "CLUSTER")
        ]
        made = self.run("user.create", username="app", acls=acls)
        self.secret = service.post(f"/operations/{made['id']}/secret")
        self.client = {
            "bootstrap.servers": self.row["bootstrap_servers"],
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": self.secret["mechanism"],
            "sasl.username": self.secret["username"],
            "sasl.password": self.secret["password"],
            "ssl.ca.pem": self.config["ca_pem"],
        }

    def run(self, kind, **inputs):
        body = {"kind": kind, "cluster_id": self.id, "inputs": inputs}
        ended = self.service.finish(self.service.confirm(self.service.post("/plans", body)))
        assert ended["state"] == "succeeded", ended
        return ended

    def ports(self, broker_id):
        """(clients', peers')"""
        properties = self.home(broker_id).joinpath("broker.properties").read_text()
        listeners = next(line for line in properties.splitlines() if line.startswith("listeners="))
        return [int(part.rpartition(":")[2]) for part in listeners.replace("\\", "").split(",")]

    def home(self, broker_id):
        return self.service.directory / "brokers" / f"{self.id}-{broker_id}"


@pytest.fixture(scope="module")
def safe(service):
    return Safe(service)


def trusting(pem, keystore=None):
    context = ssl.create_default_context(cadata=pem)
    if keystore:
        context.load_cert_chain(keystore)
    return context


def shown(port, context):
    """The certificate that a fresh connection is shown."""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as bare,
        context.wrap_socket(bare, server_hostname="127.0.0.1") as connection,
    ):
        # In TLS 1.3 a refused certificate of ours is heard of with the first read.
        connection.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            if connection.recv(1) == b"":
                raise ConnectionError("closed")
        return x509.load_der_x509_certificate(connection.getpeercert(binary_form=True))


def refusals(config):
    """What a client says that is not let in; it says something within 10 s."""
    said = []
    client = AdminClient({**config, "log_level": 0}, error_cb=lambda error: said.append(str(error)))
    with pytest.raises(KafkaException):
        client.list_topics(timeout=3)
    deadline_s = time.monotonic() + 10
    while not said and time.monotonic() < deadline_s:
        client.poll(0.2)
    return said


def until(condition, what, timeout_s=30.0):
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.1)


def test_a_stock_client_connects_with_the_authority_and_not_without(safe):
    safe.run("topic.create", name="t.safe", partitions=2, replication_factor=2)
    clients = Clients(safe.row["bootstrap_servers"], safe.secret, ca_pem=safe.config["ca_pem"])
    # Acknowledged by every replica: they replicate under TLS too.
    clients.produce("t.safe", 200)
    assert len(clients.read("t.safe", "g.safe", 200)) == 200
    stranger = authority_make("stranger", now=dt.datetime.now(dt.UTC)).certificate
    for changed, word in (
        ({"ssl.ca.pem": stranger}, "certificate verify failed"),
        ({"security.protocol": "SASL_PLAINTEXT"}, ""),
    ):
        said = refusals({**safe.client, **changed})
        assert any(word in line for line in said), said


def test_who_shows_no_certificate_of_the_cluster_is_no_peer(safe, tmp_path):
    clients, peers = safe.ports(1)
    ca = safe.config["ca_pem"]
    assert shown(clients, trusting(ca))
    own = safe.home(1) / "keystore.pem"
    assert shown(peers, trusting(ca, own))
    foreign = Authority(tmp_path, "foreign").issue("broker")
    for context in (trusting(ca), trusting(ca, foreign)):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            shown(peers, context)


def test_a_broker_of_another_authority_does_not_join_replication(safe, tmp_path):
    """It has all else that a broker has: the login to ZooKeeper, and that of brokers."""
    authority = Authority(tmp_path, "foreign")
    first = free_row(2)
    listeners = f"CLIENT://127.0.0.1:{first},INTERNAL://127.0.0.1:{first + 1}"
    overrides = {
        "broker.id": INTRUDER,
        "broker.rack": "elsewhere",
        "log.dirs": tmp_path / "data",
        "listeners": listeners,
        "advertised.listeners": listeners,
        "ssl.keystore.location": authority.issue("broker"),
        # It believes the others; it is they who do not believe it.
        "ssl.truststore.location": safe.home(1) / "truststore.pem",
    }
    (tmp_path / "data").mkdir()
    with (tmp_path / "broker.log").open("wb") as log:
        intruder = subprocess.Popen(
            python(
                *("-m", "dataplane", "broker"),
                *("--config", str(safe.home(1) / "broker.properties")),
                *(part for key, value in overrides.items() for part in ("--set", f"{key}={value}")),
            ),
            stdout=log,
            stderr=log,
            cwd=REPOSITORY,
        )
    try:
        admin = AdminClient(safe.client)

        def is_known():
            return INTRUDER in admin.list_topics(timeout=10).brokers

        until(is_known, (tmp_path / "broker.log").read_text)
        topic = NewTopic("t.reached", num_partitions=1, replica_assignment=[[1, INTRUDER]])
        admin.create_topics([topic])["t.reached"].result(20)
        producer = Producer({**safe.client, "acks": "1"})
        for _ in range(50):
            producer.produce("t.reached", b"secret-record")
        assert producer.flush(20) == 0

        def isr():
            [partition] = (
                admin.list_topics("t.reached", timeout=10).topics["t.reached"].partitions.values()
            )
            return partition.leader, partition.isrs

        until(lambda: isr() == (1, [1]), lambda: str(isr()), timeout_s=60)
        time.sleep(3)
        assert isr() == (1, [1])
        for file in (tmp_path / "data").rglob("*.log"):
            assert b"secret-record" not in file.read_bytes()
    finally:
        intruder.terminate()
        try:
            intruder.wait(20)
        except subprocess.TimeoutExpired:
            intruder.kill()
            intruder.wait()


def test_a_renewed_certificate_is_served_before_the_old_one_ends(safe):
    clients, peers = safe.ports(1)
    ca = safe.config["ca_pem"]
    before = shown(clients, trusting(ca))
    pid = safe.home(1).joinpath("broker.pid").read_text()
    waiting = Clients(safe.row["bootstrap_servers"], safe.secret, ca_pem=ca).consumer("g.waits")
    waiting.subscribe(["t.safe"])
    waiting.poll(5)
    said = safe.service.manage("shell", "--command", RENEW.format(safe.id))
    assert "Renewal(made=1, sent=1, left=0)" in said
    until(
        lambda: shown(clients, trusting(ca)).serial_number != before.serial_number,
        "the old certificate is still served",
    )
    now = shown(clients, trusting(ca))
    assert now.not_valid_after_utc > before.not_valid_after_utc
    assert before.not_valid_after_utc > dt.datetime.now(dt.UTC)
    until(
        lambda: (
            shown(peers, trusting(ca, safe.home(2) / "keystore.pem")).serial_number
            == now.serial_number
        ),
        "peers are shown the old one",
    )
    # The same process, whose other connections went on; its peers replicate by it.
    assert safe.home(1).joinpath("broker.pid").read_text() == pid
    assert waiting.poll(5) is not None
    waiting.close()
    Clients(safe.row["bootstrap_servers"], safe.secret, ca_pem=ca).produce("t.safe", 50)


def test_what_the_host_had_of_the_cluster_goes_with_it(safe):
    """The last test: the cluster is deleted."""
    secrets = [safe.home(number) / "keystore.pem" for number in (1, 2)]
    assert all(file.exists() for file in secrets)
    safe.run("cluster.delete")
    assert not [file for file in secrets if file.exists()]
    assert not list((safe.service.directory / "brokers").glob(f"{safe.id}-*"))
