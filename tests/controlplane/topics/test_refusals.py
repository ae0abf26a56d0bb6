"""What a broker refuses is said of the field that it refuses."""

import pytest

from controlplane.topics.refusals import setting_named
from tests.controlplane.rest.surface import problem
from tests.controlplane.support import client_for

APACHES_WORDS = (
    "create topic t: Invalid value -5 for configuration retention.ms: Value must be at least -1"
)


@pytest.mark.parametrize(
    ("detail", "settings", "named"),
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
def test_the_setting_that_a_text_is_about(detail, settings, named):
    assert setting_named(detail, settings) == named


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("kind", "inputs", "pointer"),
    [
        (
            "topic.create",
            {"name": "new", "configs": {"cleanup.policy": "delete", "retention.ms": "soon"}},
            "/inputs/configs/retention.ms",
        ),
        ("topic.create", {"name": "new", "configs": {"a~/b": "1"}}, "/inputs/configs/a~0~1b"),
        ("topic.create", {"name": "new", "replication_factor": 9}, "/inputs/replication_factor"),
        (
            "topic.update",
            {"name": "orders", "configs": {"retention.ms": "soon", "segment.bytes": None}},
            "/inputs/configs/retention.ms",
        ),
    ],
)
def test_a_refused_field_is_pointed_at(world, kind, inputs, pointer):
    world.gateway.add_topic("orders")
    asked = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    found = problem(client_for(world.tenant).post("/api/v1/plans", asked, format="json"), 422)
    (error,) = found["errors"]
    assert error["pointer"] == pointer
    assert error["code"] == "refused-by-cluster"
    assert found["kafka_error"]
    assert found["detail"] == error["detail"]
