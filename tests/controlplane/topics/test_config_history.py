"""Who changed a topic's configuration, from what to what."""

import pytest

from controlplane.operations.services import undo_plan_create
from controlplane.topics.history import Done, config_history
from tests.controlplane.support import ACTOR, client_for, cluster_make, drive, tenant_make


def done(number, kind, **fields):
    values = {
        "at": "2026-11-26T00:00:00Z",
        "actor": "user:ada",
        "reason": "",
        "undone_by": None,
        "inputs": {},
        "diff": {},
    }
    return Done(id=f"op_{number}", kind=kind, **{**values, **fields})


def update(number, before, after, **effective):
    diff = {"before": {"configs": before}, "after": {"configs": after}, **effective}
    return done(number, "topic.update", diff=diff)


def test_it_ends_where_the_topic_was_made():
    made = done(2, "topic.create", inputs={"name": "orders", "configs": {"retention.ms": "1"}})
    rows = config_history(
        [
            update(3, {"retention.ms": "1"}, {"retention.ms": None}),
            made,
            update(1, {"retention.ms": None}, {"retention.ms": "99"}),
        ]
    )
    assert [row["operation_id"] for row in rows] == ["op_3", "op_2"]
    assert rows[1]["changes"] == [
        {
            "key": "retention.ms",
            "before": None,
            "after": "1",
            "effective_before": None,
            "effective_after": "1",
        }
    ]


def test_of_an_earlier_topic_of_that_name_nothing_is_said():
    older = update(1, {"retention.ms": None}, {"retention.ms": "99"})
    assert config_history([done(2, "topic.delete"), older]) == []


def test_an_operation_that_set_nothing_is_no_row():
    assert config_history([done(1, "topic.create", inputs={"name": "orders"})]) == []


def test_the_default_that_held_is_said():
    (row,) = config_history(
        [
            update(
                1,
                {"retention.ms": None},
                {"retention.ms": "60000"},
                effective_before={"retention.ms": "604800000"},
                effective_after={"retention.ms": "60000"},
            )
        ]
    )
    assert row["changes"][0]["before"] is None
    assert row["changes"][0]["effective_before"] == "604800000"


@pytest.fixture
def path(world):
    return f"/api/v1/clusters/{world.cluster.id}/topics/orders/config-history"


@pytest.mark.django_db
def test_operations_and_their_undoing_are_rows_newest_first(world, path):
    world.run("topic.create", name="orders", configs={"retention.ms": "604800000"})
    changed = world.run("topic.update", name="orders", configs={"cleanup.policy": "compact"})
    world.run("topic.create", name="others", configs={"retention.ms": "1"})
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=changed.id)
    undone = drive(world.start(undo))
    found = client_for(world.tenant).get(path).json()
    assert found["complete"] is True
    rows = found["data"]
    assert [(row["operation_id"], row["undone_by"]) for row in rows][:2] == [
        (undone.id, None),
        (changed.id, undone.id),
    ]
    assert [row["kind"] for row in rows] == ["topic.update", "topic.update", "topic.create"]
    (change,) = rows[1]["changes"]
    assert (change["before"], change["effective_before"]) == (None, "delete")
    assert (change["after"], change["effective_after"]) == ("compact", "compact")
    assert rows[0]["actor"] == "user:test"


@pytest.mark.django_db
def test_it_is_bounded_and_says_so(world, path, monkeypatch):
    monkeypatch.setattr("controlplane.topics.selectors.HISTORY_MAX", 2)
    world.run("topic.create", name="orders", configs={"retention.ms": "604800000"})
    for policy in ("compact", "delete"):
        world.run("topic.update", name="orders", configs={"cleanup.policy": policy})
    found = client_for(world.tenant).get(path).json()
    assert (len(found["data"]), found["complete"]) == (2, False)


@pytest.mark.django_db
def test_another_tenants_cluster_is_not_there(world, path):
    world.run("topic.create", name="orders", configs={"retention.ms": "604800000"})
    other = tenant_make("rival")
    assert client_for(other).get(path).status_code == 404
    theirs = cluster_make(other)
    found = client_for(other).get(path.replace(world.cluster.id, theirs.id)).json()
    assert found == {"data": [], "complete": True}
