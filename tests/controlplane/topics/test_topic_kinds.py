import pytest

from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import GatewayError, timed_out, unreachable
from controlplane.operations.services import undo_plan_create
from tests.controlplane.support import ACTOR, drive


def undo(world, operation):
    plan = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    return drive(world.start(plan))


def test_create_then_undo_marks_the_first_as_reverted(world):
    made = world.run("topic.create", name="orders", partitions=6, replication_factor=3)
    assert made.state == "succeeded"
    assert len(world.gateway.topics["orders"].partitions) == 6
    undone = undo(world, made)
    assert undone.state == "succeeded"
    made.refresh_from_db()
    assert made.state == "reverted"
    assert "orders" not in world.gateway.topics


def test_create_is_refused_at_plan_time_in_the_clusters_words(world):
    with pytest.raises(GatewayError, match="INVALID_CONFIG"):
        world.plan("topic.create", name="t", configs={"nonsense": "1"})
    with pytest.raises(GatewayError, match="INVALID_REPLICATION_FACTOR"):
        world.plan("topic.create", name="t", replication_factor=9)


@pytest.mark.parametrize("name", ["..", "a b", "x" * 250, ""])
def test_bad_names_are_named(world, name):
    with pytest.raises(Problem) as caught:
        world.plan("topic.create", name=name)
    assert caught.value.errors[0]["pointer"] == "/inputs/name"


def test_unknown_outcome_of_the_create_is_looked_up_again(world):
    plan = world.plan("topic.create", name="orders", partitions=2)
    operation = world.start(plan)
    real = world.gateway.create_topic

    def create_then_time_out(topic, *, validate_only=False):
        real(topic, validate_only=validate_only)
        if not validate_only:
            world.gateway.create_topic = real
            raise timed_out("create", write=True)

    world.gateway.create_topic = create_then_time_out
    assert drive(operation).state == "succeeded"


def test_plan_goes_stale_when_someone_else_makes_the_topic(world):
    plan = world.plan("topic.create", name="orders")
    world.gateway.add_topic("orders")
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "plan-stale"
    plan.refresh_from_db()
    assert plan.state == "stale"


def test_update_changes_only_what_was_named_and_can_be_undone(world):
    world.run("topic.create", name="orders", configs={"retention.ms": "1000"})
    operation = world.run(
        "topic.update", name="orders", configs={"retention.ms": "500", "cleanup.policy": "compact"}
    )
    assert operation.state == "succeeded"
    assert world.gateway.topics["orders"].configs == {
        "retention.ms": "500",
        "cleanup.policy": "compact",
    }
    codes = {row["code"] for row in operation.plan.impact["warnings"]}
    assert {"retention-cut", "delete-to-compact"} <= codes
    assert undo(world, operation).state == "succeeded"
    assert world.gateway.topics["orders"].configs == {"retention.ms": "1000"}


def test_update_to_the_same_is_nothing_to_do(world):
    world.run("topic.create", name="orders", configs={"retention.ms": "1000"})
    with pytest.raises(Conflict, match="already"):
        world.plan("topic.update", name="orders", configs={"retention.ms": "1000"})


def test_partitions_only_grow(world):
    world.run("topic.create", name="orders", partitions=4)
    with pytest.raises(Problem, match="has 4 partitions"):
        world.plan("topic.partitions", name="orders", partitions=3)
    assert world.run("topic.partitions", name="orders", partitions=7).state == "succeeded"
    assert len(world.gateway.topics["orders"].partitions) == 7


def test_delete_shows_whom_it_hits_and_wants_the_name(world):
    world.gateway.add_topic("orders", records=10)
    from controlplane.gateway.types import TP

    world.gateway.add_group("readers", {TP("orders", 0): 5}, members=2)
    plan = world.plan("topic.delete", name="orders")
    assert plan.confirm_phrase == "orders"
    assert plan.impact["groups"] == ["readers"]
    assert plan.impact["records"] == 10
    assert {row["code"] for row in plan.impact["warnings"]} == {"data-loss", "active-readers"}
    plan.confirm_phrase = "wrong"
    with pytest.raises(Problem, match="confirm"):
        world.start(plan)
    plan.refresh_from_db()
    assert drive(world.start(plan)).state == "succeeded"
    assert "orders" not in world.gateway.topics


def test_internal_topics_are_not_deleted(world):
    world.gateway.add_topic("__consumer_offsets")
    with pytest.raises(Conflict, match="internal"):
        world.plan("topic.delete", name="__consumer_offsets")


def test_a_cluster_that_is_away_for_a_moment_only_delays(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    world.gateway.fail_next("describe_topics", unreachable("gone"), unreachable("gone"))
    assert drive(operation).state == "succeeded"
    assert operation.steps.get(name="create").attempts == 2
