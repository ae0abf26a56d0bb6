"""What moves replicas, leaders and brokers is about a whole cluster: whoever sees a part learns nothing
of it, neither from its plan, steps, end and error, nor from the record, the timeline and alerts.
"""

import pytest

from controlplane.common.grants import VIEWER, Grant, Over
from controlplane.gateway.types import TP
from controlplane.operations.models import Operation, Plan
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.rest.teams import HIDDEN_TOPICS, MAIN, key_of, member_of, unseen
from tests.controlplane.support import client_for, drive, observed

API = "/api/v1"
PAGES = "/console/api/pages"


@pytest.fixture
def shared(world):
    """A topic of the team's, those of others, and a group that reads of both."""
    gateway = world.gateway
    for name in ("team-a-x", *HIDDEN_TOPICS):
        gateway.add_topic(name, partitions=2, records=1_000, rf=2)
        led = gateway.topics[name].partitions[0]
        led.led_by = led.replicas[1]
    gateway.add_group("secret-readers", {TP("team-a-x", 0): 1, TP("secret-orders", 0): 1})
    for broker in gateway.brokers:
        add_broker(world, broker)
    observed(world)
    return world


KINDS = {
    "drain": ("reassignment", {"drain_broker": 1}),
    "factor": ("reassignment", {"all_topics": True, "replication_factor": 3}),
    "one hidden topic": (
        "reassignment",
        {"moves": [{"topic": "secret-orders", "partition": 0, "replicas": [4, 3]}]},
    ),
    "own topic beside a hidden one": (
        "reassignment",
        {
            "moves": [
                {"topic": "team-a-x", "partition": 0, "replicas": [4, 3]},
                {"topic": "secret-orders", "partition": 0, "replicas": [4, 3]},
            ]
        },
    ),
    "leaders": ("leaders.elect", {}),
    "restart": ("broker.restart", {"broker": 1}),
}


def done_by(owner, world, kind, inputs):
    body = {"kind": kind, "cluster_id": world.cluster.id, "inputs": inputs}
    plan = owner.post(f"{API}/plans", body, format="json")
    assert plan.status_code == 201, plan.content
    plan = plan.json()
    body = {
        "plan_id": plan["id"],
        "plan_hash": plan["plan_hash"],
        "confirm": plan["confirm_phrase"] or "",
    }
    started = owner.post(f"{API}/operations", body, format="json")
    assert started.status_code == 202, started.content
    return Plan.objects.get(pk=plan["id"]), Operation.objects.get(pk=started.json()["id"])


def everywhere(world, plan, operation):
    cluster = world.cluster.id
    for path in ("plans", "operations"):
        yield 404, f"{API}/{path}/{(plan if path == 'plans' else operation).pk}"
    yield 404, f"{PAGES}/operation/{operation.pk}"
    for path in ("moves", "throttle"):
        yield None, f"{API}/operations/{operation.pk}/{path}"
    lists = ("operations", "audit-events", "timeline", "alerts")
    yield from ((200, f"{API}/{path}") for path in lists)
    yield 200, f"{API}/timeline?cluster_id={cluster}"
    yield None, f"{API}/clusters/{cluster}/reassignments"
    yield from (
        (None, f"{API}/clusters/{cluster}/{path}") for path in ("topics", "groups", "brokers")
    )
    pages = ("cluster", "reassign", "topics", "groups")
    yield from ((None, f"{PAGES}/{name}/{cluster}") for name in pages)
    for path in ("overview", "operations"):
        yield 200, f"{PAGES}/{path}"
    yield 200, f"{PAGES}/broker/{cluster}/4"
    yield 200, f"{PAGES}/placement/{cluster}/4"
    yield 200, f"{PAGES}/topic/{cluster}/team-a-x"
    yield 200, "/console/api/search?q=secret"


def look(client, world, plan, operation):
    """Nothing of the others', on the way and at the end; and no id of what is not shown."""
    for status, path in everywhere(world, plan, operation):
        answer = client.get(path)
        text = answer.content.decode()
        assert answer.status_code == status or status is None, (path, answer.status_code, text)
        assert unseen(text.replace("q=secret", "")) == [], (path, text[:2_000])
        assert plan.pk not in text.replace(path, ""), path
        assert operation.pk not in text.replace(path, ""), path


@pytest.mark.parametrize("name", KINDS)
def test_a_part_of_the_cluster_learns_nothing_of_what_is_about_all_of_it(shared, name):
    kind, inputs = KINDS[name]
    narrow = key_of(shared.tenant)
    signed_in = member_of(shared.tenant)
    plan, operation = done_by(client_for(shared.tenant), shared, kind, inputs)
    look(narrow, shared, plan, operation)
    drive(operation, ticks=3)
    observed(shared)
    look(signed_in, shared, plan, operation)
    drive(operation)
    observed(shared)
    look(narrow, shared, plan, operation)
    whole = key_of(shared.tenant, [Grant(role=VIEWER, clusters=MAIN, over=Over.CLUSTER).as_row()])
    assert whole.get(f"{API}/operations/{operation.pk}").status_code == 200


def test_nor_of_how_it_failed(shared):
    owner, narrow = client_for(shared.tenant), key_of(shared.tenant)
    plan, operation = done_by(owner, shared, *KINDS["own topic beside a hidden one"])
    del shared.gateway.topics["secret-orders"]
    drive(operation)
    observed(shared)
    assert operation.state in {"failed", "succeeded"}
    look(narrow, shared, plan, operation)
