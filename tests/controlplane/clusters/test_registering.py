"""Registering a Kafka, changing the way in to it, and letting it go while others use it."""

import dataclasses
import re

import pytest

from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.types import ProbeResult, ProbeStep
from controlplane.operations.operations import kind_of
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from tests.controlplane.support import cluster_make, drive, step, tenant_make

LOGIN = {
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "SCRAM-SHA-512",
    "username": "root",
    "password": "hunter2",
}
NEW_LOGIN = {**LOGIN, "username": "penstock", "password": "hunter3"}


def failed(address, at, code, *, retriable=False):
    return ProbeResult(
        address=address, step=at, code=code, text=f"{code} it is", retriable=retriable
    )


def codes(plan):
    return [row["code"] for row in plan.impact["warnings"]]


def register(world, **inputs):
    return world.plan(
        "cluster.register", None, **{"name": "old", "bootstrap_servers": "a:1,b:2", **inputs}
    )


@pytest.mark.parametrize(
    ("at", "code", "pointer"),
    [
        (ProbeStep.DNS, "dns-failed", "/inputs/bootstrap_servers"),
        (ProbeStep.DNS, "egress-refused", "/inputs/bootstrap_servers"),
        (ProbeStep.CONNECT, "connect-timeout", "/inputs/bootstrap_servers"),
        (ProbeStep.TLS, "tls-unknown-authority", "/inputs/ca_pem"),
        (ProbeStep.TLS, "tls-wrong-host", "/inputs/bootstrap_servers"),
        (ProbeStep.TLS, "tls-plaintext-answered", "/inputs/security_protocol"),
        (ProbeStep.TLS, "tls-certificate-wanted", "/inputs/client_certificate_pem"),
        (ProbeStep.KAFKA, "not-kafka", "/inputs/bootstrap_servers"),
        (ProbeStep.LOGIN, "SASL_AUTHENTICATION_FAILED", "/inputs/password"),
        (ProbeStep.LOGIN, "UNSUPPORTED_SASL_MECHANISM", "/inputs/sasl_mechanism"),
        (ProbeStep.LOGIN, "token-refused", "/inputs/oauth_client_secret"),
        (ProbeStep.LOGIN, "login-wanted", "/inputs/security_protocol"),
    ],
)
def test_a_way_in_that_fails_makes_no_plan_and_says_the_step(world, at, code, pointer):
    world.gateway.probes = {address: failed(address, at, code) for address in ("a:1", "b:2")}
    with pytest.raises(Problem) as caught:
        register(world)
    problem = caught.value.as_dict()
    assert (problem["status"], problem["code"]) == (422, "probe-failed")
    assert [(row["pointer"], row["code"]) for row in problem["errors"]] == [(pointer, code)] * 2
    assert problem["probes"] == [
        {"address": address, "step": at.value, "code": code, "text": f"{code} it is"}
        for address in ("a:1", "b:2")
    ]
    assert not Cluster.objects.filter(name="old").exists()


def test_a_token_that_the_broker_does_not_take_is_no_matter_of_a_password(world):
    code = "SASL_AUTHENTICATION_FAILED"
    world.gateway.probes = {"a:1": failed("a:1", ProbeStep.LOGIN, code)}
    with pytest.raises(Problem) as caught:
        register(
            world,
            bootstrap_servers="a:1",
            security_protocol="SASL_SSL",
            sasl_mechanism="OAUTHBEARER",
            oauth_token_url="https://issuer.example/token",
            oauth_client_id="me",
            oauth_client_secret="s",
        )
    assert [row["pointer"] for row in caught.value.errors] == ["/inputs/oauth_client_id"]


def test_an_address_that_refuses_connections_is_named_once(world):
    refused = dataclasses.replace(
        failed("a:1", ProbeStep.CONNECT, "connect-refused"), text="a:1: Connection refused"
    )
    world.gateway.probes = dict.fromkeys(("a:1", "b:2"), refused)
    with pytest.raises(Problem) as caught:
        register(world)
    assert caught.value.errors[0]["detail"] == "a:1: Connection refused"


def test_one_address_that_fails_is_a_warning(world):
    world.gateway.probes = {"b:2": failed("b:2", ProbeStep.CONNECT, "connect-refused")}
    plan = register(world)
    assert "address-failed" in codes(plan)
    assert [row["code"] for row in plan.impact["probes"][:2]] == ["", "connect-refused"]


def test_brokers_that_the_kafka_advertises_are_looked_at_too(world):
    world.gateway.probes = {"127.0.0.1:9002": failed("127.0.0.1:9002", ProbeStep.DNS, "dns-failed")}
    plan = register(world)
    (said,) = [row for row in plan.impact["warnings"] if row["code"] == "advertised-failed"]
    assert "127.0.0.1:9002" in said["text"]
    assert [row["address"] for row in plan.impact["probes"]] == [
        "a:1",
        "b:2",
        *(f"127.0.0.1:900{i}" for i in range(1, 5)),
    ]


def test_a_kafka_all_of_whose_brokers_are_elsewhere_is_refused(world):
    world.gateway.probes = {
        f"127.0.0.1:900{i}": failed(f"127.0.0.1:900{i}", ProbeStep.DNS, "egress-refused")
        for i in range(1, 5)
    }
    with pytest.raises(Problem) as caught:
        register(world)
    assert caught.value.code == "probe-failed"
    assert "egress-refused" in {row["code"] for row in caught.value.errors}


def test_a_kafka_that_is_gone_after_the_probe_is_said(world):
    world.gateway.fail_next("describe_cluster", unreachable("gone"))
    with pytest.raises(Problem) as caught:
        register(world)
    assert caught.value.code == "probe-failed"


def test_what_the_login_is_too_weak_for_is_said(world):
    world.gateway.operations = frozenset({"DESCRIBE", "DESCRIBE_CONFIGS"})
    world.gateway.fail_next("create_topic", GatewayError("TOPIC_AUTHORIZATION_FAILED"))
    said = [row["text"] for row in register(world).impact["warnings"] if row["code"] == "too-weak"]
    unable = [text.removeprefix("With this login Penstock cannot ") for text in said]
    assert unable == [
        "change users and ACLs, move partitions (no ALTER on Cluster).",
        "limit the bandwidth of moves (no ALTER_CONFIGS on Cluster).",
        f"make the topic {TELEMETRY_TOPIC} (TOPIC_AUTHORIZATION_FAILED).",
    ]


@pytest.mark.parametrize(
    ("code", "said"), [("CLUSTER_AUTHORIZATION_FAILED", 1), ("SECURITY_DISABLED", 0)]
)
def test_a_cluster_that_does_not_say_its_rights_is_asked(world, code, said):
    world.gateway.fail_next("list_acls", GatewayError(code))
    assert codes(register(world)).count("too-weak") == said


def test_a_plan_changes_nothing_there(world):
    before = dict(world.gateway.topics)
    register(world)
    assert world.gateway.topics == before


def test_the_confirmation_does_not_wait_for_the_kafka(world):
    plan = register(world)
    world.gateway.offline = True
    operation = world.start(plan)
    assert operation.state == "pending"


def test_the_same_kafka_twice_is_said(world):
    drive(world.start(register(world)))
    plan = register(world, name="again")
    assert "registered-already" in codes(plan)


def registered(world, **inputs):
    operation = drive(world.start(register(world, **{**LOGIN, **inputs})))
    assert operation.state == "succeeded"
    return Cluster.objects.get(pk=operation.cluster_id)


def test_the_kafka_s_own_id_is_kept(world):
    assert registered(world).kafka_id == "fake"


def test_credentials_are_replaced_once_they_were_tried(world):
    cluster = registered(world)
    plan = world.plan("cluster.credentials", cluster.id, **NEW_LOGIN, bootstrap_servers="c:3")
    assert "hunter3" not in str([plan.inputs, plan.diff, plan.impact])
    assert plan.diff["before"]["username"] == "root"
    assert plan.diff["after"] == {
        "bootstrap_servers": "c:3",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": "penstock",
    }
    assert kind_of("cluster.credentials").undo(plan) is None
    operation = drive(world.start(plan))
    assert operation.state == "succeeded"
    cluster.refresh_from_db()
    assert (cluster.bootstrap_servers, cluster.admin_username) == ("c:3", "penstock")
    assert unseal(cluster.secrets_token) == {"admin": "hunter3"}
    plan.refresh_from_db()
    assert plan.secret_token == ""


def test_the_addresses_stay_where_none_are_given(world):
    cluster = registered(world)
    drive(world.start(world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)))
    cluster.refresh_from_db()
    assert cluster.bootstrap_servers == "a:1,b:2"


def test_a_way_in_that_stopped_working_meanwhile_replaces_nothing(world):
    cluster = registered(world)
    plan = world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)
    world.gateway.probes = {
        address: failed(address, ProbeStep.LOGIN, "SASL_AUTHENTICATION_FAILED")
        for address in ("a:1", "b:2")
    }
    operation = drive(world.start(plan))
    assert (operation.state, step(operation, "connect").state) == ("failed", "failed")
    cluster.refresh_from_db()
    assert unseal(cluster.secrets_token) == {"admin": "hunter2"}
    assert cluster.phase == "RUNNING"


def test_the_way_in_to_another_kafka_is_refused_in_the_plan_and_in_the_step(world):
    cluster = registered(world)
    plan = world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)
    world.gateway.kafka_id = "another"
    with pytest.raises(Conflict) as caught:
        world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)
    assert caught.value.code == "another-kafka"
    assert drive(world.start(plan)).state == "failed"
    cluster.refresh_from_db()
    assert unseal(cluster.secrets_token) == {"admin": "hunter2"}


def test_two_plans_of_one_way_in_the_second_is_stale(world):
    cluster = registered(world)
    first = world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)
    second = world.plan("cluster.credentials", cluster.id, **LOGIN)
    drive(world.start(first))
    with pytest.raises(Conflict) as caught:
        world.start(second)
    assert caught.value.code == "plan-stale"


def test_a_managed_cluster_s_credentials_are_nobody_s_to_change(world):
    with pytest.raises(Conflict) as caught:
        world.plan("cluster.credentials", **NEW_LOGIN)
    assert caught.value.code == "cluster-not-registered"


def test_a_kafka_without_a_known_id_is_learned_and_said(world):
    cluster = registered(world)
    Cluster.objects.update(kafka_id="")
    plan = world.plan("cluster.credentials", cluster.id, **NEW_LOGIN)
    assert "kafka-unknown" in codes(plan)
    drive(world.start(plan))
    cluster.refresh_from_db()
    assert cluster.kafka_id == "fake"


@pytest.mark.parametrize(
    ("other", "stays"),
    [
        ({"kafka_id": "fake", "bootstrap_servers": "x:9"}, True),
        ({"kafka_id": "", "bootstrap_servers": "x:9,b:2"}, True),
        ({"kafka_id": "", "bootstrap_servers": "x:9"}, False),
        ({"kafka_id": "another", "bootstrap_servers": "b:2"}, False),
        ({"kafka_id": "fake", "phase": "DELETING"}, False),
        ({"kafka_id": "fake", "kind": "managed"}, False),
    ],
)
def test_telemetry_stays_while_another_registration_is_of_the_same_kafka(world, other, stays):
    """Also one of another tenant: both write to the one topic."""
    cluster = registered(world)
    world.gateway.add_topic(TELEMETRY_TOPIC, records=3)
    cluster_make(tenant_make("rival"), "theirs", **{"kind": "registered", **other})
    plan = world.plan("cluster.delete", cluster.id)
    (extent,) = plan.impact["blast_radius"]
    assert extent["value"] == (0 if stays else 1)
    operation = drive(world.start(plan))
    assert operation.state == "succeeded"
    assert (TELEMETRY_TOPIC in world.gateway.topics) is stays
    assert ("another registration" in step(operation, "remove").detail) is stays


def test_no_step_of_letting_a_kafka_go_speaks_of_its_brokers(world):
    operation = drive(world.start(world.plan("cluster.delete", registered(world).id)))
    assert operation.state == "succeeded"
    titles = [row.title for row in operation.steps.all()]
    assert not [said for said in titles if re.search("broker|ZooKeeper|host", said)], titles


def test_the_steps_of_deleting_a_managed_cluster_do(world):
    operation = world.start(world.plan("cluster.delete"))
    assert step(operation, "remove").title == "Stop and delete brokers"


def test_one_topic_is_counted_as_one(world):
    world.gateway.topics.clear()
    world.gateway.add_topic("only")
    operation = drive(world.start(register(world, name="another")))
    assert step(operation, "verify").detail == "1 topic"
