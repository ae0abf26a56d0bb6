"""What a tenant may say about a broker's configuration: a tenant's keys, within a tenant's bounds."""

import json
import re

import pytest

from controlplane.clusters import services
from controlplane.clusters.models import Cluster
from controlplane.clusters.rules import config_warnings
from controlplane.clusters.selectors import client_config
from controlplane.clusters.specs import check_config
from controlplane.common.kafka_configs import ERRORS_MAX
from controlplane.common.problems import Invalid
from dataplane.config import BROKER_CONFIGS, Scope, parse_properties
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for, cluster_make

LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
INJECTED = "log.dirs=/tmp/evil{0}super.users=User:mallory{0}zookeeper.connect=x:1/other"
IDENTITY = {
    "broker.id": "7",
    "broker.rack": "r",
    "log.dirs": "/etc",
    "log.dir": "/etc",
    "listeners": "PLAINTEXT://:1",
    "advertised.listeners": "PLAINTEXT://a:1",
    "inter.broker.listener.name": "CLIENT",
    "listener.security.protocol.map": "CLIENT:PLAINTEXT",
    "zookeeper.connect": "other:2181/penstock/clusters/other",
    "super.users": "User:mallory",
    "authorizer.class.name": "",
    "allow.everyone.if.no.acl.found": "true",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.jaas.config": "hunter2",
    "ssl.keystore.location": "/etc/passwd",
    "ssl.keystore.password": "hunter2",
    "principal.builder.class": "x",
    "penstock.inter.broker.username": "mallory",
    "penstock.inter.broker.password": "hunter2",
    "penstock.bootstrap.scram": "mallory=hunter2",
    "penstock.metrics.port": "1",
}
SHARED = {
    "background.threads": "100000",
    "log.cleaner.dedupe.buffer.size": "1099511627776",
    "socket.request.max.bytes": "2147483647",
    "queued.max.request.bytes": "1099511627776",
}
UNKNOWN = {
    "no.such.key": "1",
    "Min.Insync.Replicas": "1",
    "min.insync.replicas ": "1",
    "listener.name.client.ssl.keystore.location": "/etc/passwd",
    "listener.name.client.scram-sha-256.sasl.jaas.config": "x",
    "a=b\u2028log.dirs": "/tmp/evil",
    "": "1",
    "k" * 100_000: "1",
    "node.id\nlog.dirs": "/etc",
}
OUT_OF_BOUNDS = [
    ("min.insync.replicas", "banana", "at least 1 and at most 30"),
    ("min.insync.replicas", "-1", "at least 1 and at most 30"),
    ("min.insync.replicas", "0", "at least 1"),
    ("min.insync.replicas", "31", "at most 30"),
    ("min.insync.replicas", "99999999999", "at most 30"),
    ("min.insync.replicas", "1.5", "at least 1"),
    ("min.insync.replicas", "\u0663", "at least 1"),
    ("min.insync.replicas", "9" * 9_000, "at most 30"),
    ("log.retention.ms", "soon", "at least -1"),
    ("log.retention.hours", "-2", "at least -1"),
    ("log.segment.bytes", "14", "at least 1048576"),
    ("log.cleanup.policy", "shred", "one of compact, delete"),
    ("compression.type", "rar", "one of .*zstd"),
    ("compression.gzip.level", "0", "1 to 9"),
    ("auto.create.topics.enable", "perhaps", "true or false"),
    ("log.cleaner.min.cleanable.ratio", "2", "at most 1"),
    ("replica.selector.class", "com.example.Mine", "RackAwareReplicaSelector"),
    ("log.message.format.version", "3\u2028log.dirs=/x", "version of Kafka"),
    ("offsets.topic.num.partitions", "100000", "at most 200"),
]


def refused(world, config):
    asked = {"kind": "cluster.create", "inputs": {"name": "fresh", "config": config}}
    found = problem(client_for(world.tenant).post("/api/v1/plans", asked, format="json"), 422)
    assert not world.hosts.desired
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("key", [*IDENTITY, *SHARED])
def test_what_is_not_a_tenants_is_refused_by_name(world, key):
    value = {**IDENTITY, **SHARED}[key]
    found = refused(world, {"num.partitions": "3", key: value or " x"})
    (error,) = found["errors"]
    assert (error["pointer"], error["code"]) == (f"/inputs/config/{key}", "not-allowed")
    assert "Penstock sets it" in error["detail"] or "tenants share" in error["detail"]
    assert "hunter2" not in json.dumps(found)
    assert "num.partitions" in found["allowed_keys"]
    assert not {*IDENTITY, *SHARED} & {*found["allowed_keys"]}


def test_every_key_that_is_not_a_tenants_is_refused():
    for name, key in BROKER_CONFIGS.items():
        if key.scope is not Scope.TENANT:
            with pytest.raises(Invalid) as caught:
                check_config({name: key.format(key.default) or "1"}, broker_count=3)
            assert caught.value.errors[0]["code"] == "not-allowed"


def test_the_default_of_every_tenants_key_is_allowed():
    defaults = {
        name: text
        for name, key in BROKER_CONFIGS.items()
        if key.scope is Scope.TENANT and (text := key.format(key.default)) is not None
    }
    assert len(defaults) > 40
    effective = check_config(defaults, broker_count=3)
    assert {name: effective[name] for name in defaults} == {
        name: BROKER_CONFIGS[name].default for name in defaults
    }


@pytest.mark.django_db
@pytest.mark.parametrize("key", UNKNOWN, ids=lambda key: ascii(key)[:40])
def test_an_unknown_key_is_refused(world, key):
    found = refused(world, {key: UNKNOWN[key]})
    (error,) = found["errors"]
    assert error["code"] == "unknown"
    assert error["pointer"].startswith("/inputs/config/" + key[:9])
    assert len(error["detail"]) < 300
    if key.lower().strip() == "min.insync.replicas":
        assert "Did you mean min.insync.replicas?" in error["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize(("key", "value", "allowed"), OUT_OF_BOUNDS)
def test_a_value_out_of_bounds_is_refused_with_the_range(world, key, value, allowed):
    (error,) = refused(world, {key: value})["errors"]
    assert (error["pointer"], error["code"]) == (f"/inputs/config/{key}", "invalid")
    assert re.search(allowed, error["detail"])
    assert ascii(value)[1:20] in error["detail"]
    assert len(error["detail"]) < 400


@pytest.mark.django_db
@pytest.mark.parametrize("char", LINE_ENDS, ids=ascii)
def test_no_line_end_brings_a_setting_along(world, char):
    injected = f"3{char}{INJECTED.format(char)}"
    (error,) = refused(world, {"num.partitions": injected})["errors"]
    assert error["pointer"] == "/inputs/config/num.partitions"
    (error,) = refused(world, {f"num.partitions=3{char}log.dirs": "/tmp/evil"})["errors"]
    assert error["code"] == "unknown"


@pytest.mark.django_db
def test_all_that_is_wrong_is_said_at_once(world):
    found = refused(world, {"min.insync.replicas": "x", "log.dirs": "/x", "nope": "1"})
    assert [error["code"] for error in found["errors"]] == ["invalid", "not-allowed", "unknown"]
    many = refused(world, {f"nope.{n}": "1" for n in range(5_000)})
    assert len(many["errors"]) == ERRORS_MAX


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("config", "key", "words"),
    [
        (
            {"group.min.session.timeout.ms": "9000", "group.max.session.timeout.ms": "8000"},
            "group.max.session.timeout.ms",
            "group.min.session.timeout.ms, which is 9000",
        ),
        ({"log.retention.ms": "0"}, "log.retention.ms", "unlimited"),
        ({"log.retention.hours": "0"}, "log.retention.hours", "unlimited"),
        (
            {"log.cleaner.min.compaction.lag.ms": "9", "log.cleaner.max.compaction.lag.ms": "8"},
            "log.cleaner.min.compaction.lag.ms",
            "which is 8",
        ),
    ],
)
def test_settings_that_do_not_fit_each_other_are_refused(world, config, key, words):
    (error,) = refused(world, config)["errors"]
    assert (error["pointer"], error["code"]) == (f"/inputs/config/{key}", "inconsistent")
    assert words in error["detail"]


@pytest.mark.parametrize(
    ("config", "brokers", "codes"),
    [
        ({}, 3, []),
        ({}, 1, []),
        ({"min.insync.replicas": "3"}, 3, ["no-slack"]),
        ({"min.insync.replicas": "4"}, 5, ["unwritable"]),
        ({"default.replication.factor": "1"}, 3, ["unwritable"]),
        ({"default.replication.factor": "4"}, 3, ["too-few-brokers"]),
        ({"offsets.topic.replication.factor": "2"}, 1, ["too-few-brokers"]),
        ({"transaction.state.log.min.isr": "3"}, 3, ["no-slack"]),
        ({"log.retention.ms": "60000"}, 3, ["kept-longer"]),
        ({"log.retention.ms": "60000", "log.roll.ms": "60000"}, 3, []),
        ({"log.retention.ms": "-1"}, 3, []),
        ({"log.retention.bytes": "2000000"}, 3, ["kept-longer"]),
        ({"log.retention.bytes": "2000000", "log.segment.bytes": "1048576"}, 3, []),
        ({"log.cleanup.policy": "compact"}, 3, ["compact-by-default"]),
        ({"unclean.leader.election.enable": "true"}, 3, ["unclean-election"]),
    ],
)
def test_warnings_say_what_settings_do_together(config, brokers, codes):
    effective = check_config(config, broker_count=brokers)
    found = config_warnings(effective, chosen=config, broker_count=brokers)
    assert [row["code"] for row in found] == codes


def test_warnings_say_durations_in_words():
    config = {"log.retention.ms": "60000"}
    effective = check_config(config, broker_count=3)
    (found,) = config_warnings(effective, chosen=config, broker_count=3)
    assert found["text"] == (
        "Data is kept for 1 minute and deleted by whole segments, which end after 7 days: it may"
        " stay that much longer."
    )


@pytest.mark.django_db
def test_warnings_stand_in_the_plan(world):
    plan = world.plan(
        "cluster.create", None, name="fresh", config={"default.replication.factor": "9"}
    )
    assert "too-few-brokers" in {row["code"] for row in plan.impact["warnings"]}


@pytest.mark.django_db
def test_a_cluster_planned_before_the_table_brings_nothing_along(world):
    """Its row may hold what no plan lets through today."""
    made = world.run("cluster.create", None, name="old", config={"num.partitions": "4"})
    cluster = Cluster.objects.get(pk=made.cluster_id)
    cluster.config = {**IDENTITY, **UNKNOWN, **SHARED, "num.partitions": "5"}
    cluster.save()
    before = {key: spec["config"] for key, spec in world.hosts.desired.items()}
    services.write_desired(cluster, state="running")
    after = {key: spec["config"] for key, spec in world.hosts.desired.items()}
    assert after == {key: {**config, "num.partitions": "5"} for key, config in before.items()}


@pytest.mark.django_db
def test_an_address_stays_data_in_what_clients_copy(world):
    """A registered address is read by other members of the tenant, as code and as a file."""
    address = 'x"+__import__("os").getpid()+"\\:1'
    cluster = cluster_make(world.tenant, name="foreign", bootstrap_servers=address)
    shown = client_config(cluster)
    assert parse_properties(shown["properties"])["bootstrap.servers"] == address
    literal = re.search(r'"bootstrap.servers": (".*"),\n', shown["python"])
    assert json.loads(literal[1]) == address
