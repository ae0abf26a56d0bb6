"""Plans tell the setting from the data, and an undo says what it does."""

import pytest

from controlplane.gateway.types import TP
from controlplane.operations.operations import OperationKind, kind_names, required_kind
from controlplane.operations.risks import STAYS, Risk
from controlplane.operations.services import undo_plan_create
from tests.controlplane.support import ACTOR, drive

ACL = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
}


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=2, records=100)
    world.gateway.add_group("readers", {TP("orders", 0): 60, TP("orders", 1): 80})
    return world


def undo_of(world, operation):
    assert operation.state == "succeeded", operation.error
    return undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)


def texts(plan):
    return {row["code"]: row["text"] for row in plan.impact["warnings"]}


def test_every_kind_says_what_its_undo_restores_or_why_there_is_none():
    for name in kind_names():
        kind = required_kind(name)
        can = type(kind).undo is not OperationKind.undo
        assert bool(kind.restores) == can, name
        assert can or kind.final != OperationKind.final, name


def test_every_risk_says_what_undoing_leaves():
    assert set(STAYS) == set(Risk)


def test_a_retention_comes_back_and_the_records_do_not(orders):
    operation = orders.run("topic.update", name="orders", configs={"retention.ms": "1000"})
    assert operation.plan.impact["undo"] == {
        "restores": "the settings go back to what they were",
        "stays": ["Records that are deleted before the undo do not come back."],
    }
    said = texts(undo_of(orders, operation))
    assert said["undoes"] == (
        f"This undoes {operation.id}: the settings go back to what they were."
    )
    assert said["not-restored"] == "Records that are deleted before the undo do not come back."


def test_what_loses_nothing_is_wholly_restored(orders):
    plan = orders.plan("topic.update", name="orders", configs={"retention.ms": "-1"})
    assert plan.impact["undo"]["stays"] == []


def test_a_plan_without_a_way_back_says_why(orders):
    plan = orders.plan("topic.delete", name="orders")
    assert plan.impact["undo"] is None
    assert texts(plan)["no-undo"] == ("This cannot be undone: the records are gone with the topic.")


@pytest.mark.parametrize(
    ("kind", "inputs", "last"),
    [
        ("topic.create", {"name": "new"}, "the records are gone with the topic"),
        ("user.create", {"username": "app"}, "a user made again has another password"),
    ],
)
def test_an_undo_never_says_that_it_cannot_be_undone(orders, kind, inputs, last):
    said = texts(undo_of(orders, orders.run(kind, **inputs)))
    assert "no-undo" not in said
    assert not any("cannot be undone" in text for text in said.values())
    assert said["undo-is-final"] == f"The undo itself is final: {last}."


def test_undoing_a_first_commit_removes_it_and_says_who_decides_then(orders):
    operation = orders.run(
        "offset.reset", group="new", topics=["orders"], strategy="offset", value=30
    )
    undo = undo_of(orders, operation)
    assert undo.impact["summary"] == "Remove the commit of new in 2 partitions."
    assert {(row["to"], row["effect"], row["records"]) for row in undo.diff["partitions"]} == {
        (None, "removed", None)
    }
    assert texts(undo)["commit-removed"] == (
        "The commit in 2 partitions is removed: auto.offset.reset of the group's consumers then"
        " decides where they begin. earliest reads 60 records again, latest skips 140 records,"
        " none is an error to them."
    )
    assert undo.impact["risks"] == ["skips-records"]
    assert undo.confirm_phrase == "new"
    assert drive(orders.start(undo)).state == "succeeded"
    assert orders.gateway.committed["new"] == {}


def test_undoing_a_deletion_of_a_group_goes_on_where_it_was(orders):
    undo = undo_of(orders, orders.run("group.delete", group="readers"))
    assert [(row["to"], row["effect"], row["records"]) for row in undo.diff["partitions"]] == [
        (60, "first", 40),
        (80, "first", 20),
    ]
    assert undo.impact["records_skipped"] == 0
    assert undo.impact["risks"] == []
    said = texts(undo)
    assert said["new-group"] == "There is no group readers now: this makes it again."
    assert said["not-restored"] == STAYS[Risk.SKIPS_RECORDS]


def test_undoing_a_removal_of_rules_says_what_was_refused_meanwhile(orders):
    orders.run("acl.create", bindings=[ACL])
    undo = undo_of(orders, orders.run("acl.delete", bindings=[ACL]))
    assert texts(undo)["not-restored"] == STAYS[Risk.LOSES_ACCESS]
