"""Managed clusters with TLS: who gets which key, what clients are shown, and renewal."""

import datetime as dt
import json
import ssl

import pytest
from cryptography import x509
from django.utils import timezone

from controlplane.clusters.authority import CA_KEY_PEM, CA_PEM, CHAIN, KEY, TRUSTED
from controlplane.clusters.connections import connection_spec
from controlplane.clusters.models import Broker, Cluster, HostKey
from controlplane.clusters.renewal import renew_certificates
from controlplane.clusters.sealing import host_keys, open_for_host
from controlplane.clusters.selectors import client_config
from controlplane.clusters.services import restart_broker, write_desired
from controlplane.clusters.tasks import renew
from controlplane.common.crypto import unseal
from dataplane.agent.certificates import to_files
from dataplane.agent.spec import broker_settings, decode_desired
from dataplane.config import parse_properties
from tests.controlplane.support import client_for

SOON = dt.timedelta(days=20)


@pytest.fixture
def cluster(world):
    made = world.run("cluster.create", None, name="safe", broker_count=3)
    assert made.state == "succeeded"
    return Cluster.objects.get(pk=made.cluster_id)


def test_a_cluster_has_tls_unless_somebody_says_otherwise(world, cluster):
    assert cluster.security_protocol == "SASL_SSL"
    plan = world.plan("cluster.create", None, name="open", listener_security="SASL_PLAINTEXT")
    [said] = [row for row in plan.impact["warnings"] if row["code"] == "not-encrypted"]
    assert "cannot be changed later" in said["text"]
    other = world.run("cluster.create", None, name="open", listener_security="SASL_PLAINTEXT")
    row = Cluster.objects.get(pk=other.cluster_id)
    assert row.security_protocol == "SASL_PLAINTEXT"
    assert CA_PEM not in unseal(row.secrets_token)
    for secret in world.opened(row.id).values():
        assert not {KEY, CHAIN, TRUSTED} & set(secret)
    configs = [s["config"] for s in world.hosts.desired.values() if s["cluster_id"] == row.id]
    assert {c["listener.security.protocol.map"] for c in configs} == {
        "CLIENT:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT"
    }
    assert all("listener.name.internal.ssl.client.auth" not in config for config in configs)


def test_another_listener_security_is_refused(world):
    client = client_for(world.tenant)
    body = {"kind": "cluster.create", "inputs": {"name": "x", "listener_security": "PLAINTEXT"}}
    answer = client.post("/api/v1/plans", body, format="json")
    assert answer.status_code == 422
    assert "listener_security" in answer.content.decode()


def test_every_broker_has_a_key_of_its_own_and_no_host_the_authoritys(world, cluster):
    secrets = unseal(cluster.secrets_token)
    opened = world.opened(cluster.id)
    assert len({secret[KEY] for secret in opened.values()}) == 3
    assert {secret[TRUSTED] for secret in opened.values()} == {secrets[CA_PEM]}
    for secret in opened.values():
        assert secrets[CA_KEY_PEM] not in json.dumps(secret)
        assert "PRIVATE" not in secret[CHAIN] + secret[TRUSTED]
    for spec in world.hosts.desired.values():
        if spec["cluster_id"] == cluster.id:
            assert "BEGIN" not in json.dumps(spec)
            assert spec["config"]["listener.name.internal.ssl.client.auth"] == "required"
    other = world.run("cluster.create", None, name="second", broker_count=1)
    row = Cluster.objects.get(pk=other.cluster_id)
    assert unseal(row.secrets_token)[CA_PEM] != secrets[CA_PEM]


def test_an_agent_makes_files_of_it_that_a_broker_serves_by(world, cluster, tmp_path):
    (key, spec), *_ = world.hosts.desired.items()
    desired = decode_desired(key[1], json.dumps(spec).encode())
    secret = to_files(open_for_host(key[0], spec["secret"]), tmp_path)
    found = broker_settings(desired, secret, log_dirs=str(tmp_path / "data"))
    assert found["ssl.keystore.location"] == str(tmp_path / "keystore.pem")
    assert not {KEY, CHAIN, TRUSTED} & set(found)
    for name in ("keystore.pem", "truststore.pem"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / "keystore.pem")
    # What says the same is left as it is: a broker reads its files again when they change.
    before = (tmp_path / "keystore.pem").stat()
    to_files(open_for_host(key[0], spec["secret"]), tmp_path)
    assert (tmp_path / "keystore.pem").stat().st_ino == before.st_ino


def test_written_again_it_is_the_same_certificate(world, cluster):
    before = {broker: secret[CHAIN] for broker, secret in world.opened(cluster.id).items()}
    restart_broker(cluster, 2)
    write_desired(cluster, state="running")
    assert {broker: s[CHAIN] for broker, s in world.opened(cluster.id).items()} == before


def test_a_broker_that_is_deleted_needs_no_key_any_more(world, cluster):
    write_desired(cluster, state="deleted")
    for secret in world.opened(cluster.id).values():
        assert "PRIVATE KEY" not in json.dumps(secret)
        assert not secret


def test_the_control_plane_trusts_the_clusters_authority_and_no_other(cluster):
    spec = connection_spec(cluster)
    assert spec.security_protocol == "SASL_SSL"
    assert spec.ca_pem == unseal(cluster.secrets_token)[CA_PEM]


def test_clients_are_shown_the_authority_and_snippets_that_use_it(world, cluster):
    answer = client_for(world.tenant).get(f"/api/v1/clusters/{cluster.id}/client-config")
    shown = answer.json()
    x509.load_pem_x509_certificate(shown["ca_pem"].encode())
    assert "PRIVATE" not in answer.content.decode()
    assert shown["values"]["ssl.ca.location"] == "ca.pem"
    assert parse_properties(shown["properties"])["ssl.ca.location"] == "ca.pem"
    assert '"ssl.ca.location": "ca.pem"' in shown["python"]
    java = parse_properties(shown["java"])
    # One truth: what the cluster says, what clients are told, and what brokers take.
    seen = client_for(world.tenant).get(f"/api/v1/clusters/{cluster.id}").json()
    assert seen["sasl_mechanism"] == java["sasl.mechanism"] == "SCRAM-SHA-512"
    assert seen["sasl_mechanisms"] == shown["mechanisms"] == ["SCRAM-SHA-512", "SCRAM-SHA-256"]
    taken = {
        spec["config"]["sasl.enabled.mechanisms"]
        for spec in world.hosts.desired.values()
        if spec["cluster_id"] == cluster.id
    }
    assert [set(each.split(",")) for each in taken] == [set(shown["mechanisms"])]
    assert java["security.protocol"] == "SASL_SSL"
    assert (java["ssl.truststore.type"], java["ssl.truststore.location"]) == ("PEM", "ca.pem")
    assert java["sasl.jaas.config"].startswith(
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
    )
    assert "sasl.username" not in java
    assert client_config(world.cluster)["ca_pem"] is None


def test_renewal_before_the_end_reaches_the_host_without_a_new_generation(world, cluster):
    now = timezone.now()
    assert (renew_certificates(now).made, renew_certificates(now).sent) == (0, 0)
    generations = [spec["generation"] for spec in world.hosts.desired.values()]
    before = world.opened(cluster.id)
    Broker.objects.filter(cluster=cluster, broker_id=2).update(certificate_ends_at=now + SOON)
    done = renew_certificates(now)
    assert (done.made, done.sent, done.left) == (1, 1, 0)
    after = world.opened(cluster.id)
    assert [broker for broker in after if after[broker][CHAIN] != before[broker][CHAIN]] == [2]
    assert after[2][KEY] != before[2][KEY]
    assert {key: value for key, value in after[2].items() if key not in (KEY, CHAIN)} == {
        key: value for key, value in before[2].items() if key not in (KEY, CHAIN)
    }
    assert [spec["generation"] for spec in world.hosts.desired.values()] == generations
    ends_at = Broker.objects.get(cluster=cluster, broker_id=2).certificate_ends_at
    assert ends_at - now > dt.timedelta(days=80)
    assert renew_certificates(now).made == 0


def test_what_was_made_and_not_sent_is_sent_by_the_next_run(world, cluster):
    now = timezone.now()
    Broker.objects.filter(cluster=cluster).update(certificate_ends_at=now + SOON)
    world.hosts.is_away = True
    assert renew() == 0
    world.hosts.is_away = False
    reseal, lost = world.hosts.reseal, []

    def raced(key, old, new):
        """Another writer was first, once for each broker."""
        if key in lost:
            return reseal(key, old, new)
        lost.append(key)
        return False

    world.hosts.reseal = raced
    done = renew_certificates(now)
    assert (done.sent, done.left) == (0, 3)
    assert renew() == 3
    assert renew() == 0


def test_a_host_without_a_key_keeps_no_other_from_its_certificate(world, cluster, caplog):
    now = timezone.now()
    Broker.objects.filter(cluster=cluster).update(certificate_ends_at=now + SOON)
    HostKey.objects.filter(pk="host-2").delete()
    done = renew_certificates(now)
    assert (done.sent, done.left) == (2, 1)
    assert "host host-2 has no key of its own" in caplog.text
    host_keys("host-2")


def test_a_cluster_that_is_gone_is_not_renewed(world, cluster):
    world.run("cluster.delete", cluster.id)
    assert renew_certificates(timezone.now() + dt.timedelta(days=80)).made == 0
