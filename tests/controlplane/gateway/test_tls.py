"""The gateway over TLS: the project's own brokers with SASL_SSL, and with clients' certificates."""

import tempfile

import pytest

from controlplane.clusters.specs import scram_credential
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.records import RecordProducer, values_since
from controlplane.gateway.tls import BAD_CERTIFICATES, broker_context
from controlplane.gateway.types import NewTopic
from tests.certificates import Authority, split_pem
from tests.local_cluster import local_cluster

ADMIN, PASSWORD = "admin", "admin-secret"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "authority")


@pytest.fixture(scope="module")
def own(authority):
    """(key, certificate) of the gateway."""
    return split_pem(authority.issue("penstock", host=""))


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory, authority):
    """One broker: SCRAM over TLS on one listener, clients' certificates on the other."""
    directory = tmp_path_factory.mktemp("tls")
    settings = {
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
        "listener.security.protocol.map": (
            "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"
        ),
        "inter.broker.listener.name": "SASL_PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("broker")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "listener.name.ssl.ssl.client.auth": "required",
        "penstock.inter.broker.username": ADMIN,
        "penstock.inter.broker.password": PASSWORD,
        "penstock.bootstrap.scram": f"{ADMIN}={scram_credential(PASSWORD, b'0123456789abcdef')}",
    }
    listeners = ["SASL_PLAINTEXT", "SASL_SSL", "SSL"]
    with local_cluster(directory, brokers=1, settings=settings, listeners=listeners) as started:
        yield started.bootstraps


def sasl_ssl(encrypted, authority, **changes):
    values = {
        "bootstrap_servers": (encrypted["SASL_SSL"],),
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-256",
        "username": ADMIN,
        "password": PASSWORD,
        "ca_pem": authority.file.read_text(),
        "timeout_s": 5.0,
    }
    return ConnectionSpec(**{**values, **changes})


def asked(spec):
    gateway = KafkaGateway(spec)
    try:
        return gateway.describe_cluster()
    finally:
        gateway.close()


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_cluster_with_tls_and_a_login_is_asked_written_to_and_read(encrypted, authority):
    spec = sasl_ssl(encrypted, authority)
    gateway = KafkaGateway(spec)
    assert len(gateway.describe_cluster().brokers) == 1
    gateway.create_topic(NewTopic(name="sealed", partitions=1, replication_factor=1))
    producer = RecordProducer(spec, client_id="c", delivery_timeout_s=20.0)
    producer.send("sealed", [(b"k", b"v")])
    producer.close()
    assert list(values_since(spec, "sealed", partitions=1, from_ms=0, timeout_s=20.0)) == [b"v"]
    gateway.close()


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_a_client_is_known_by_its_certificate(encrypted, authority, own):
    key, certificate = own
    spec = ConnectionSpec(
        bootstrap_servers=(encrypted["SSL"],),
        security_protocol="SSL",
        ca_pem=authority.file.read_text(),
        client_certificate_pem=certificate,
        client_key_pem=key,
        timeout_s=5.0,
    )
    assert len(asked(spec).brokers) == 1


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_brokers_of_another_authority_are_not_talked_to(encrypted, tmp_path):
    stranger = Authority(tmp_path, "stranger")
    with pytest.raises(GatewayError):
        asked(sasl_ssl(encrypted, stranger, timeout_s=2.0))


def test_the_file_of_the_key_is_gone_before_the_context_is_used(
    authority, own, tmp_path, monkeypatch
):
    key, certificate = own
    seen = []
    made = tempfile.NamedTemporaryFile

    def watched(*args, **kwargs):
        file = made(*args, **kwargs, dir=tmp_path)
        seen.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())
        return file

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", watched)
    spec = ConnectionSpec(
        bootstrap_servers=("a:1",),
        security_protocol="SSL",
        client_certificate_pem=certificate,
        client_key_pem=key,
    )
    assert broker_context(spec).check_hostname
    assert seen == [0o600]
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_pem_and_a_key_with_a_password_are_refused(authority, own):
    _, certificate = own
    sealed, _ = split_pem(authority.issue("sealed", password="hunter2"))
    for changes in (
        {"ca_pem": "nonsense"},
        {"client_certificate_pem": certificate, "client_key_pem": sealed},
        {"client_certificate_pem": certificate, "client_key_pem": "nonsense"},
    ):
        spec = ConnectionSpec(bootstrap_servers=("a:1",), security_protocol="SSL", **changes)
        with pytest.raises(GatewayError) as caught:
            broker_context(spec)
        assert caught.value.code == BAD_CERTIFICATES
