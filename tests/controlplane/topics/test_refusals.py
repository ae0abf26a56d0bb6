"""What a broker refuses is said of the field that it refuses."""

import re

import pytest

from controlplane.topics.refusals import setting_named
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for

APACHES_WORDS = (
    "create topic t: Invalid value -5 for configuration retention.ms: Value must be at least -1"
)


@pytest.mark.parametrize(
    ("detail", "keys", "named"),
    [
        (APACHES_WORDS, ["retention.bytes", "retention.ms", "segment.ms"], "retention.ms"),
        ("Unknown topic config name: no.such", ["no.such", "segment.ms"], "no.such"),
        ("must be below max.compaction.lag.ms", ["compaction.lag.ms", "segment.ms"], None),
        ("segment.ms must be <= retention.ms.", ["retention.ms", "segment.ms"], "segment.ms"),
        ("no words about it", ["segment.ms"], "segment.ms"),
        ("no words about it", ["segment.ms", "retention.ms"], None),
        ("no words about it", [], None),
    ],
)
def test_the_setting_that_a_text_is_about(detail, keys, named):
    assert setting_named(detail, keys) == named


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "inputs", "pointer"),
    [
        (
            "topic.create",
            {"name": "new", "configs": {"cleanup.policy": "delete", "preallocate": "true"}},
            "/inputs/configs/preallocate",
        ),
        ("topic.create", {"name": "new", "replication_factor": 9}, "/inputs/replication_factor"),
        (
            "topic.update",
            {"name": "orders", "configs": {"preallocate": "true", "segment.bytes": None}},
            "/inputs/configs/preallocate",
        ),
    ],
)
def test_a_field_that_the_cluster_refuses_is_pointed_at(world, kind, inputs, pointer):
    """These brokers know fewer settings than Kafka does."""
    world.gateway.add_topic("orders")
    asked = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    found = problem(client_for(world.tenant).post("/api/v1/plans", asked, format="json"), 422)
    (error,) = found["errors"]
    assert error["pointer"] == pointer
    assert error["code"] == "refused-by-cluster"
    assert found["kafka_error"]
    assert found["detail"] == error["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["managed", "registered"])
@pytest.mark.parametrize("operation", ["topic.create", "topic.update"])
@pytest.mark.parametrize(
    ("configs", "refusal"),
    [
        ({"retention.ms": "soon"}, ("retention.ms", "invalid", "'soon'.*at least -1")),
        ({"retention.ms": "-5"}, ("retention.ms", "invalid", "'-5'.*at least -1")),
        ({"min.insync.replicas": "banana"}, ("min.insync.replicas", "invalid", "at least 1")),
        ({"min.insync.replicas": "99999999999"}, ("min.insync.replicas", "invalid", "2147483647")),
        ({"cleanup.policy": "shred"}, ("cleanup.policy", "invalid", "one of compact, delete")),
        ({"preallocate": "perhaps"}, ("preallocate", "invalid", "true or false")),
        ({"compression.gzip.level": "0"}, ("compression.gzip.level", "invalid", "1 to 9")),
        (
            {"message.format.version": "3\u2028a=b"},
            ("message.format.version", "invalid", "version"),
        ),
        ({"Retention.ms": "1"}, ("Retention.ms", "unknown", "retention.ms")),
        ({"a~/b": "1"}, ("a~0~1b", "unknown", "not a setting of a topic")),
        ({"log.dirs": "/x"}, ("log.dirs", "unknown", "not a setting")),
        (
            {"leader.replication.throttled.replicas": "*"},
            ("leader.replication.throttled.replicas", "not-allowed", "Penstock"),
        ),
    ],
)
def test_a_setting_is_checked_by_kafkas_own_table(world, kind, operation, configs, refusal):
    pointer, code, words = refusal
    world.cluster.kind = kind
    world.cluster.save()
    world.gateway.add_topic("orders")
    name = "orders" if operation == "topic.update" else "new"
    inputs = {"name": name, "configs": {"segment.bytes": "1000000", **configs}}
    asked = {"kind": operation, "cluster_id": world.cluster.id, "inputs": inputs}
    found = problem(client_for(world.tenant).post("/api/v1/plans", asked, format="json"), 422)
    (error,) = found["errors"]
    assert (error["pointer"], error["code"]) == (f"/inputs/configs/{pointer}", code)
    assert re.search(words, error["detail"])


@pytest.mark.django_db
def test_a_throttle_that_a_reassignment_set_is_not_taken_away_by_an_update(world):
    world.gateway.add_topic("orders")
    configs = {"leader.replication.throttled.replicas": None}
    asked = {
        "kind": "topic.update",
        "cluster_id": world.cluster.id,
        "inputs": {"name": "orders", "configs": configs},
    }
    found = problem(client_for(world.tenant).post("/api/v1/plans", asked, format="json"), 422)
    assert found["errors"][0]["code"] == "not-allowed"
    assert "retention.ms" in found["allowed_keys"]
