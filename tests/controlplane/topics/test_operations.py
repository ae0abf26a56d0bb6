import pytest

from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import Conflict, Invalid, Problem
from controlplane.gateway.errors import timed_out, unreachable
from controlplane.gateway.fake_state import TOPIC_DEFAULTS
from controlplane.gateway.types import TP, AclBinding
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
    world.gateway.add_group("readers", {TP("orders", 0): 5}, members=2)
    plan = world.plan("topic.delete", name="orders")
    assert plan.confirm_phrase == "orders"
    assert reach(plan) == {
        "records": (10, None),
        "bytes": (1000, None),
        "groups": (1, ["readers"]),
        "active_groups": (1, ["readers"]),
        "acls": (0, []),
    }
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


def reach(plan):
    return {row["name"]: (row["value"], row["names"]) for row in plan.impact["blast_radius"]}


def said(plan):
    return {row["code"]: row["text"] for row in plan.impact["warnings"]}


def test_a_broker_that_is_gone_leaves_its_part_of_a_deletion_unknown(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=100)
    world.gateway.add_topic("__consumer_offsets", partitions=4, rf=1)
    world.gateway.remove_broker(2)
    plan = world.plan("topic.delete", name="orders")
    rows = {row["name"]: row for row in plan.impact["blast_radius"]}
    assert (rows["records"]["value"], rows["records"]["at_least"]) == (None, 300)
    assert rows["records"]["unknown"] == [
        {"reason": "1 partition has no leader (replica on 2)", "brokers": [2]}
    ]
    assert rows["groups"]["value"] is None
    assert rows["acls"]["value"] == 0
    texts = said(plan)
    assert texts["data-loss"] == (
        "At least 300 records (at least 29.3 KiB (30000 bytes)) are deleted."
    )
    unknown = [row["text"] for row in plan.impact["warnings"] if row["code"] == "unknown"]
    assert unknown == [
        "Unknown: 1 partition has no leader (replica on 2). That leaves uncertain: records, bytes.",
        (
            "Unknown: 1 partition of __consumer_offsets has no leader (replica on 2). That leaves"
            " uncertain: groups that read it, groups reading it right now."
        ),
    ]


def test_a_silent_cluster_of_one_says_unknown_and_not_nothing(world):
    world.gateway.add_topic("orders", rf=1, records=7)
    world.gateway.silent = {1, 2, 3, 4}
    plan = world.plan("topic.delete", name="orders")
    assert reach(plan)["records"] == (None, None)
    assert said(plan)["data-loss"] == (
        "An unknown number of records (an unknown number of bytes) are deleted."
    )


def acl(pattern, name, kind="TOPIC"):
    return AclBinding(
        principal="User:app",
        host="*",
        operation="READ",
        permission="ALLOW",
        resource_type=kind,
        resource_name=name,
        pattern_type=pattern,
    )


def test_rules_by_name_by_prefix_and_about_everything_are_counted(world):
    world.gateway.add_topic("orders.eu")
    world.gateway.acls = {
        acl("LITERAL", "orders.eu"),
        acl("PREFIXED", "orders."),
        acl("LITERAL", "*"),
        acl("LITERAL", "orders"),
        acl("PREFIXED", "orders.us"),
        acl("LITERAL", "orders.eu", "GROUP"),
    }
    plan = world.plan("topic.delete", name="orders.eu")
    assert reach(plan)["acls"] == (
        3,
        [
            "User:app ALLOW READ on TOPIC *",
            "User:app ALLOW READ on TOPIC orders.*",
            "User:app ALLOW READ on TOPIC orders.eu",
        ],
    )


def produce(world, records):
    world.gateway.topics["orders"].partitions[0].log_end += records


def refused(world, plan):
    with pytest.raises(Conflict) as caught:
        world.start(plan)
    assert caught.value.code == "blast-radius-changed"
    plan.refresh_from_db()
    assert plan.state == "stale"
    return caught.value


def test_what_was_written_since_the_plan_is_not_deleted(world):
    world.gateway.add_topic("orders")
    plan = world.plan("topic.delete", name="orders")
    produce(world, 5_000)
    refusal = refused(world, plan)
    records = refusal.extra["changes"][0]
    assert (records["name"], records["planned"], records["now"]) == ("records", 0, 5_000)
    assert "records: 0 in the plan, 5000 now (at most 0 may be confirmed)" in refusal.detail
    assert refusal.detail.endswith("Make a new plan.")
    assert "orders" in world.gateway.topics


def test_a_log_may_grow_by_a_tenth_between_plan_and_confirmation(world):
    world.gateway.add_topic("orders", records=1_000)
    plan = world.plan("topic.delete", name="orders")
    assert plan.impact["blast_radius"][0]["limit"] == 1_100
    produce(world, 100)
    assert drive(world.start(plan)).state == "succeeded"
    world.gateway.add_topic("orders", records=1_000)
    plan = world.plan("topic.delete", name="orders")
    produce(world, 101)
    assert refused(world, plan).extra["changes"][0]["limit"] == 1_100


def starts_to_read(world):
    world.gateway.set_members("readers", 1)


def comes(world):
    world.gateway.add_group("late", {TP("orders", 0): 1})


def is_granted(world):
    world.gateway.acls.add(acl("PREFIXED", "ord"))


def goes_silent(world):
    world.gateway.silent = {1}


@pytest.mark.parametrize(
    ("change", "name", "text"),
    [
        (starts_to_read, "active_groups", "groups reading it right now: 0 in the plan, 1 now"),
        (comes, "groups", "(new: late)"),
        (is_granted, "acls", "(new: User:app ALLOW READ on TOPIC ord*)"),
        (goes_silent, "records", "10 in the plan, unknown now; broker 1 did not answer"),
    ],
)
def test_who_came_since_the_plan_is_named_and_refuses_it(world, change, name, text):
    world.gateway.add_topic("orders", records=10)
    world.gateway.add_group("readers", {TP("orders", 0): 5})
    plan = world.plan("topic.delete", name="orders")
    change(world)
    refusal = refused(world, plan)
    assert name in {row["name"] for row in refusal.extra["changes"]}
    assert text in refusal.detail


def test_what_was_unknown_and_shows_itself_needs_a_new_plan(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=100)
    world.gateway.silent = {2}
    plan = world.plan("topic.delete", name="orders")
    world.gateway.silent = set()
    (change, *_) = refused(world, plan).extra["changes"]
    assert (change["planned"], change["planned_at_least"], change["now"]) == (None, 300, 400)


def test_what_stays_unknown_may_be_confirmed_as_such(world):
    world.gateway.add_topic("orders", partitions=4, rf=1, records=100)
    world.gateway.silent = {2}
    plan = world.plan("topic.delete", name="orders")
    assert world.start(plan).state == "pending"


def test_added_partitions_name_the_groups_that_rebalance(world):
    world.gateway.add_topic("orders")
    world.gateway.add_group("readers", {TP("orders", 0): 0})
    plan = world.plan("topic.partitions", name="orders", partitions=3)
    assert reach(plan) == {"groups": (1, ["readers"])}
    assert said(plan)["rebalance"] == "1 group will rebalance."
    world.gateway.silent = {1}
    plan = world.plan("topic.partitions", name="orders", partitions=3)
    assert reach(plan) == {"groups": (None, [])}
    assert "unknown" in said(plan)


def test_settings_that_are_not_given_are_not_taken_for_none(world):
    world.gateway.add_topic("orders")
    world.gateway.topic_configs = lambda _names: {}
    with pytest.raises(Problem, match="do not give the settings"):
        world.plan("topic.update", name="orders", configs={"retention.ms": "1"})


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
        assert plan_dict(plan, EVERYTHING)["revertible"] is False
        (row,) = [row for row in plan.impact["warnings"] if row["code"] == "no-undo"]
        assert "cannot be undone" in row["text"]
    plan = world.plan("topic.create", name="more")
    assert plan_dict(plan, EVERYTHING)["revertible"] is True
    assert "no-undo" not in {row["code"] for row in plan.impact["warnings"]}


def test_a_cluster_that_is_away_for_a_moment_only_delays(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    world.gateway.fail_next("describe_topics", unreachable("gone"), unreachable("gone"))
    assert drive(operation).state == "succeeded"
    assert operation.steps.get(name="create").attempts == 2


def test_what_was_written_after_the_confirmation_stops_the_deletion(world):
    """The operation may wait for its turn; confirming measured another topic."""
    world.gateway.add_topic("orders", records=0)
    operation = world.start(world.plan("topic.delete", name="orders"))
    world.gateway.topics["orders"].partitions[0].log_end = 5_000
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "blast-radius-changed")
    assert "5000" in operation.error["detail"]
    assert "orders" in world.gateway.topics
