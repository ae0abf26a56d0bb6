import pytest

from controlplane.common.problems import Conflict, Invalid, Problem
from controlplane.gateway.errors import timed_out, unreachable
from controlplane.gateway.fake import TOPIC_DEFAULTS
from controlplane.operations.selectors import plan_dict
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
    with pytest.raises(Invalid, match="Unknown topic config name: preallocate"):
        world.plan("topic.create", name="t", configs={"preallocate": "true"})
    with pytest.raises(Invalid, match="larger than the 4 brokers"):
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
    assert world.gateway.create_topic == real, "the answer of the create was lost"
    assert len(world.gateway.topics["orders"].partitions) == 2


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
    assert codes == {"delete-to-compact"}  # pure compaction deletes nothing by age
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
    assert {row["code"] for row in plan.impact["warnings"]} == {
        "data-loss",
        "active-readers",
        "no-undo",
    }
    plan.confirm_phrase = "wrong"
    with pytest.raises(Problem, match="confirm"):
        world.start(plan)
    plan.refresh_from_db()
    assert drive(world.start(plan)).state == "succeeded"
    assert "orders" not in world.gateway.topics


INTERNAL = ["__consumer_offsets", "__transaction_state", "__penstock_telemetry"]


@pytest.mark.parametrize("name", INTERNAL)
@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("topic.delete", {}),
        ("topic.partitions", {"partitions": 60}),
        ("topic.update", {"configs": {"cleanup.policy": None}}),
        ("topic.update", {"configs": {"cleanup.policy": "compact,delete"}}),
        ("topic.update", {"configs": {"min.insync.replicas": "1"}}),
    ],
)
def test_internal_topics_are_out_of_reach(world, name, kind, inputs):
    world.gateway.add_topic(name)
    world.gateway.topics[name].configs["cleanup.policy"] = "compact"
    with pytest.raises(Conflict) as caught:
        world.plan(kind, name=name, **inputs)
    assert caught.value.code == "internal-topic"


def test_an_internal_topic_takes_a_harmless_change(world):
    world.gateway.add_topic("__consumer_offsets")
    name, configs = "__consumer_offsets", {"cleanup.policy": "compact"}
    assert world.gateway.topics[name].configs != configs
    assert world.run("topic.update", name=name, configs=configs).state == "succeeded"
    assert world.gateway.topics[name].configs == configs


@pytest.mark.parametrize("name", INTERNAL)
def test_internal_names_are_reserved(world, name):
    with pytest.raises(Problem) as caught:
        world.plan("topic.create", name=name)
    assert caught.value.errors[0]["code"] == "reserved"


@pytest.mark.parametrize(
    ("own", "code"),
    [
        ({"retention.ms": "-1"}, "retention-cut"),
        ({"cleanup.policy": "compact"}, "compact-to-delete"),
    ],
)
def test_back_to_the_default_is_warned_about_like_any_other_value(world, own, code):
    world.gateway.add_topic("orders")
    world.gateway.topics["orders"].configs.update(own)
    plan = world.plan("topic.update", name="orders", configs=dict.fromkeys(own))
    assert code in {row["code"] for row in plan.impact["warnings"]}
    (key,) = own
    assert plan.diff["effective_after"] == {key: TOPIC_DEFAULTS[key]}
    assert plan.impact["summary"] == "Change 1 setting of orders."


def test_an_undo_is_warned_about_too(world):
    world.gateway.add_topic("orders")
    operation = world.run("topic.update", name="orders", configs={"retention.ms": "-1"})
    plan = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert "retention-cut" in {row["code"] for row in plan.impact["warnings"]}


def test_plans_without_a_way_back_say_so(world):
    world.gateway.add_topic("orders")
    for kind, inputs in (("topic.delete", {}), ("topic.partitions", {"partitions": 2})):
        plan = world.plan(kind, name="orders", **inputs)
        assert plan_dict(plan)["revertible"] is False
        (row,) = [row for row in plan.impact["warnings"] if row["code"] == "no-undo"]
        assert "cannot be undone" in row["text"]
    plan = world.plan("topic.create", name="more")
    assert plan_dict(plan)["revertible"] is True
    assert "no-undo" not in {row["code"] for row in plan.impact["warnings"]}


def test_a_cluster_that_is_away_for_a_moment_only_delays(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    world.gateway.fail_next("describe_topics", unreachable("gone"), unreachable("gone"))
    assert drive(operation).state == "succeeded"
    assert operation.steps.get(name="create").attempts == 2
