"""The part of the overview and of a cluster: whose alerts it has, and which plans it offers."""

import pytest
from django.utils import timezone

from console.pages.attention_parts import attention_part
from controlplane.alerts.models import Alert, Evaluator
from controlplane.common.grants import EVERYTHING, OPERATOR, VIEWER, Grant, Over, Scope
from controlplane.operations.plans import plan_create
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.rest.teams import MAIN, TEAM
from tests.controlplane.support import ACTOR, cluster_make, observed, tenant_make


@pytest.fixture
def asked(world):
    """The rules have just been asked, and the cluster read."""
    Evaluator.objects.create(finished_at=timezone.now())
    world.gateway.add_topic("team-a-x", partitions=1, rf=3)
    observed(world)
    return world


def alert_make(world, rule="group-losing-data", **more):
    now = timezone.now()
    values = {
        "cluster_id": world.cluster.id,
        "cluster_name": "main",
        "subject": "group/team-a-g",
        "severity": "critical",
        "summary": "main: group team-a-g loses records.",
        "values": {"group": "team-a-g", "topic": "team-a-x"},
        "touches": [["group", "team-a-g"], ["topic", "team-a-x"]],
        "state": "firing",
    }
    return Alert.objects.create(
        tenant=world.tenant, rule=rule, started_at=now, refreshed_at=now, **{**values, **more}
    )


def broker_down(world, *brokers):
    return alert_make(
        world,
        "broker-down",
        subject="",
        values={},
        touches=[],
        unit="brokers",
        members=[str(each) for each in brokers],
        member_count=len(brokers),
    )


def read(world, scope=EVERYTHING, cluster_id=None):
    return attention_part(world.tenant, scope, cluster_id).read()


def part(role, *over):
    return Scope((tuple(Grant(role=role, clusters=MAIN, over=each, names=TEAM) for each in over),))


def test_an_alert_stands_with_its_runbook_and_the_plan_that_may_be_next(asked):
    made = alert_make(asked)
    (row,) = read(asked)
    assert (row["alert_id"], row["runbook"]) == (made.id, "group-losing-data")
    assert (row["group"], row["topic"]) == ("team-a-g", "team-a-x")
    step = row["next"]
    assert (step["kind"], step["cluster_id"]) == ("topic.retention_lease", asked.cluster.id)
    assert step["inputs"]["name"] == "team-a-x"
    assert "cluster" not in step["inputs"]


def test_what_is_offered_is_a_plan_that_can_be_made(asked):
    add_broker(asked, 2)
    broker_down(asked, 2)
    (row,) = read(asked)
    step = row["next"]
    assert (step["kind"], step["inputs"]) == ("broker.restart", {"broker": 2})
    plan = plan_create(
        tenant=asked.tenant,
        actor=ACTOR,
        kind_name=step["kind"],
        cluster_id=step["cluster_id"],
        inputs=step["inputs"],
    )
    assert plan.state == "open"


def test_of_several_brokers_none_is_guessed(asked):
    broker_down(asked, 2, 3)
    assert [row["next"] for row in read(asked)] == [None]


def test_brokers_that_others_run_are_not_restarted_from_here(asked):
    type(asked.cluster).objects.update(kind="registered")
    broker_down(asked, 2)
    assert [row["next"] for row in read(asked)] == [None]


def test_nobody_is_offered_what_they_may_not_do(asked):
    alert_make(asked)
    both = (Over.TOPIC, Over.GROUP)
    assert [row["next"] for row in read(asked, part(VIEWER, *both))] == [None]
    (row,) = read(asked, part(OPERATOR, *both))
    assert row["next"]["kind"] == "topic.retention_lease"


def test_what_a_scope_does_not_cover_is_not_there(asked):
    alert_make(asked)
    alert_make(asked, subject="group/other", touches=[["group", "other"]], values={})
    alert_make(asked, "spark-late", subject="", cluster_id="", cluster_name="", touches=[])
    assert len(read(asked)) == 3
    assert len(read(asked, part(VIEWER, Over.TOPIC, Over.GROUP))) == 1
    assert read(asked, part(VIEWER, Over.TOPIC)) == []


def test_a_cluster_has_its_own_alone(asked):
    other = cluster_make(asked.tenant, "other")
    alert_make(asked)
    alert_make(asked, cluster_id=other.id, cluster_name="other")
    assert len(read(asked)) == 2
    assert [row["cluster_name"] for row in read(asked, cluster_id=asked.cluster.id)] == ["main"]


def test_another_tenants_are_not_there(asked):
    alert_make(asked)
    assert attention_part(tenant_make("rival"), EVERYTHING).read() == []


def test_what_is_over_or_not_yet_told_is_no_row(asked):
    alert_make(asked, state="resolved")
    alert_make(asked, state="pending", subject="group/team-a-h")
    assert read(asked) == []
