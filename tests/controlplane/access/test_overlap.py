"""Two passwords beside each other: how it begins, ends by itself or early, and is taken back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.access.models import ENDED, HELD, STANDING, PasswordOverlap
from controlplane.access.rotation import UserRotate, end_due
from controlplane.clusters.models import REGISTERED
from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.gateway.errors import unreachable
from controlplane.operations.models import Operation, OperationLock, Plan
from controlplane.operations.operations import StepFailedError
from controlplane.operations.services import secret_take, undo_plan_create
from tests.controlplane.operations.trouble import (
    AFTER,
    BEFORE,
    ProcessKilled,
    act,
    outlive,
    raising,
    seen,
)
from tests.controlplane.support import ACTOR, client_for, drive

OLD, NEW = "SCRAM-SHA-512", "SCRAM-SHA-256"
HOUR = 3600


@pytest.fixture
def user(world):
    """`app`, with a password by OLD."""
    operation = world.run("user.create", username="app")
    return secret_take(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)


def rotated(world, overlap_s=HOUR):
    operation = world.run("user.rotate", username="app", overlap_s=overlap_s)
    assert operation.state == "succeeded", operation.error
    return operation


def overlap():
    return PasswordOverlap.objects.get()


def let_end():
    """As when the time is over."""
    past = timezone.now() - timedelta(seconds=1)
    PasswordOverlap.objects.update(ends_at=past, next_try_at=past)


def swept(world):
    """The operation that a sweep has started, at its end."""
    assert end_due() == 1
    return drive(Operation.objects.filter(kind="user.retire").order_by("-created_at")[0])


def text_of(plan, code):
    return next(row["text"] for row in plan.impact["warnings"] if row["code"] == code)


def test_both_passwords_stand_and_nothing_is_locked_meanwhile(world, user):
    operation = rotated(world)
    secret = secret_take(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert secret["mechanism"] == NEW
    assert world.gateway.users == {("app", OLD): user["password"], ("app", NEW): secret["password"]}
    row = overlap()
    assert (row.state, row.old_mechanism, row.new_mechanism) == (STANDING, OLD, NEW)
    left = row.ends_at - timezone.now()
    assert timedelta(seconds=HOUR - 60) < left <= timedelta(seconds=HOUR)
    assert not OperationLock.objects.exists()
    assert end_due() == 0


def test_the_clients_configuration_names_the_mechanism_of_the_newest_password(world, user):
    type(world.cluster).objects.update(security_protocol="SASL_PLAINTEXT")
    world.gateway.users['od"d', OLD] = "x"
    client = client_for(world.tenant)
    address = f"/api/v1/clusters/{world.cluster.id}/users/{{}}/client-config"

    def config(name="app"):
        answer = client.get(address.format(name))
        if answer.status_code != 200:
            return answer.status_code
        shown = answer.json()
        return {**shown["values"], "mechanisms": shown["mechanisms"]}

    assert (config()["sasl.username"], config()["sasl.mechanism"]) == ("app", OLD)
    assert config()["mechanisms"] == [OLD]
    rotated(world)
    assert config()["sasl.mechanism"] == NEW
    assert config()["mechanisms"] == [NEW, OLD]
    world.run("user.retire", username="app", mechanism=NEW)
    assert config()["sasl.mechanism"] == OLD
    assert config("nobody") == 404
    java = client.get(address.format('od"d')).json()["java"]
    assert 'username="od\\\\"d"' in java


def test_the_plan_says_until_when_and_what_then(world, user):
    plan = world.plan("user.rotate", username="app", overlap_s=90 * 60)
    said = text_of(plan, "old-password-until")
    assert f"The old password ({OLD}) works for 1 hour 30 minutes" in said
    assert "removed" in said
    assert f"sasl.mechanism={NEW}" in text_of(plan, "mechanism-changes")
    assert plan.impact["undo"]["restores"] == UserRotate.restores
    assert world.gateway.users == {("app", OLD): user["password"]}


def test_it_ends_by_itself_when_its_time_is_over(world, user):
    operation = rotated(world)
    let_end()
    ended = swept(world)
    assert ended.state == "succeeded", ended.error
    assert (ended.actor, operation.id in ended.reason) == ("system", True)
    assert set(world.gateway.users) == {("app", NEW)}
    assert (overlap().state, ended.id in overlap().how_ended) == (ENDED, True)
    assert end_due() == 0


def test_it_can_be_ended_early(world, user):
    rotated(world)
    plan = world.plan("user.retire", username="app", mechanism=OLD)
    assert "Remove the old password" in plan.impact["summary"]
    assert drive(world.start(plan)).state == "succeeded"
    assert set(world.gateway.users) == {("app", NEW)}
    assert overlap().state == ENDED


def test_taken_back_the_world_is_as_before(world, user):
    before = seen(world)
    operation = rotated(world)
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert (undo.kind, undo.inputs["mechanism"]) == ("user.retire", NEW)
    assert drive(world.start(undo)).state == "succeeded"
    assert seen(world) == before
    operation.refresh_from_db()
    assert (operation.state, overlap().state) == ("reverted", ENDED)


def test_an_undo_never_touches_what_a_later_rotation_made(world, user):
    first = rotated(world)
    let_end()
    swept(world)
    second = rotated(world)
    stands = dict(world.gateway.users)
    assert secret_take(tenant=world.tenant, actor=ACTOR, operation_id=second.id)["mechanism"] == OLD
    with pytest.raises(Conflict) as caught:
        undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=first.id)
    assert caught.value.code == "overlap-ended"
    assert world.gateway.users == stands


def test_a_second_overlap_is_refused_and_says_why(world, user):
    rotated(world)
    with pytest.raises(Conflict, match="stand already, until 20") as caught:
        world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert caught.value.code == "overlap-stands"


def test_a_user_of_both_mechanisms_has_no_place_for_a_second_password(world, user):
    world.gateway.users["app", NEW] = "another"
    with pytest.raises(Conflict, match="no place for a third") as caught:
        world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert caught.value.code == "both-mechanisms-used"
    world.run("user.retire", username="app", mechanism=NEW)
    rotated(world)


def test_rotating_at_once_replaces_both_and_ends_the_overlap(world, user):
    rotated(world)
    plan = world.plan("user.rotate", username="app")
    assert "both are replaced" in text_of(plan, "ends-overlap")
    before = dict(world.gateway.users)
    assert drive(world.start(plan)).state == "succeeded"
    passwords = {world.gateway.users["app", mechanism] for mechanism in (OLD, NEW)}
    assert len(passwords) == 1
    assert not passwords & set(before.values())
    assert overlap().state == ENDED
    let_end()
    assert end_due() == 0


def test_the_only_password_is_never_removed(world, user):
    with pytest.raises(Conflict) as caught:
        world.plan("user.retire", username="app", mechanism=OLD)
    assert caught.value.code == "last-login"
    with pytest.raises(NotFound):
        world.plan("user.retire", username="app", mechanism=NEW)


def test_the_old_password_stays_when_the_new_one_was_removed_elsewhere(world, user):
    rotated(world)
    del world.gateway.users["app", NEW]
    let_end()
    ended = swept(world)
    assert (ended.state, ended.error["code"]) == ("failed", "last-login")
    assert world.gateway.users == {("app", OLD): user["password"]}
    assert overlap().state == HELD
    assert "the only one" in overlap().problem
    let_end()
    assert end_due() == 0


def test_an_old_password_that_is_gone_already_ends_it_too(world, user):
    rotated(world)
    del world.gateway.users["app", OLD]
    let_end()
    assert swept(world).state == "succeeded"
    assert overlap().state == ENDED


def test_a_cluster_that_is_away_is_not_asked_by_the_sweep_and_tried_again(world, user):
    rotated(world)
    let_end()
    world.gateway.offline = True
    calls = len(world.gateway.calls)
    assert end_due() == 1
    assert len(world.gateway.calls) == calls
    row = overlap()
    assert (row.state, row.tries) == (STANDING, 1)
    assert row.next_try_at > timezone.now()
    operation = Operation.objects.get(kind="user.retire")
    drive(operation, ticks=1)
    operation.steps.update(started_at=timezone.now() - timedelta(hours=1))
    assert drive(operation).state == "failed"
    assert (overlap().state, overlap().problem != "") == (STANDING, True)
    world.gateway.offline = False
    let_end()
    assert swept(world).state == "succeeded"
    assert set(world.gateway.users) == {("app", NEW)}


def test_what_is_under_way_on_the_user_is_waited_for(world, user):
    rotated(world)
    let_end()
    rule = {
        "principal": "User:app",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "orders",
    }
    holder = world.start(world.plan("acl.create", bindings=[rule]))
    plans = Plan.objects.count()
    assert end_due() == 0
    assert Plan.objects.count() == plans
    assert (overlap().tries, "acl.create" in overlap().problem) == (0, True)
    assert drive(holder).state == "succeeded"
    let_end()
    assert swept(world).state == "succeeded"


def test_of_two_sweeps_one_starts_it(world, user, monkeypatch):
    from controlplane.access import rotation, services

    rotated(world)
    let_end()
    rows = services.overlaps_due()
    assert end_due() == 1
    monkeypatch.setattr(rotation, "overlaps_due", lambda: rows)
    assert end_due() == 0
    assert Operation.objects.filter(kind="user.retire").count() == 1


def test_deleting_the_user_ends_it(world, user):
    rotated(world)
    assert world.run("user.delete", username="app").state == "succeeded"
    assert (overlap().state, world.gateway.users) == (ENDED, {})


def test_the_end_of_a_removed_cluster_is_not_tried(world, user):
    rotated(world)
    let_end()
    type(world.cluster).objects.update(deleted_at=timezone.now())
    assert end_due() == 0
    assert overlap().state == ENDED


def test_letting_a_kafka_go_says_whose_old_password_stays_there(world, user):
    type(world.cluster).objects.update(kind=REGISTERED)
    quiet = world.plan("cluster.delete")
    rotated(world)
    with pytest.raises(Conflict):
        world.start(quiet)
    plan = world.plan("cluster.delete")
    said = text_of(plan, "both-passwords-stay")
    assert f"The old password of app ({OLD}) stays" in said
    assert "opens-access" in plan.impact["risks"]
    world.run("user.retire", username="app", mechanism=OLD)
    codes = [row["code"] for row in world.plan("cluster.delete").impact["warnings"]]
    assert "both-passwords-stay" not in codes


def test_deleting_a_managed_cluster_deletes_both_and_says_nothing_of_it(world, user):
    rotated(world)
    codes = [row["code"] for row in world.plan("cluster.delete").impact["warnings"]]
    assert "both-passwords-stay" not in codes


# -- nothing half done


@pytest.mark.parametrize("step", ["credential", "verify"])
@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_failed_one_leaves_the_world_as_before(world, user, monkeypatch, step, when):
    before = seen(world)
    act(monkeypatch, ("user.rotate", step), when, raising(StepFailedError("made-to-fail", "No.")))
    operation = world.run("user.rotate", username="app", overlap_s=HOUR)
    assert (operation.state, operation.remains) == ("failed", [])
    assert seen(world) == before
    assert not PasswordOverlap.objects.exists()


@pytest.mark.parametrize("step", ["credential", "verify"])
@pytest.mark.parametrize("when", [BEFORE, AFTER])
def test_a_killed_worker_changes_nothing_of_the_end(world, user, monkeypatch, step, when):
    act(monkeypatch, ("user.rotate", step), when, raising(ProcessKilled()))
    operation = outlive(world.start(world.plan("user.rotate", username="app", overlap_s=HOUR)))
    assert operation.state == "succeeded"
    assert set(world.gateway.users) == {("app", OLD), ("app", NEW)}
    monkeypatch.undo()
    let_end()
    assert end_due() == 1
    act(monkeypatch, ("user.retire", step), when, raising(ProcessKilled()))
    assert outlive(Operation.objects.get(kind="user.retire")).state == "succeeded"
    assert set(world.gateway.users) == {("app", NEW)}
    assert overlap().state == ENDED


def test_what_a_failed_one_could_not_take_back_is_taken_by_its_undo(world, user, monkeypatch):
    before = seen(world)
    failing = raising(StepFailedError("made-to-fail", "No."))
    act(monkeypatch, ("user.rotate", "verify"), BEFORE, failing)
    operation = world.start(world.plan("user.rotate", username="app", overlap_s=HOUR))
    drive(operation, ticks=2)
    world.gateway.offline = True
    drive(operation, ticks=1)
    operation.steps.update(started_at=timezone.now() - timedelta(hours=1))
    operation = drive(operation)
    world.gateway.offline = False
    assert (operation.state, len(operation.remains)) == ("failed", 2)
    assert seen(world) != before
    undo = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(world.start(undo)).state == "succeeded"
    assert seen(world) == before


# -- what brokers enable


def settings(world, **values):
    for broker in world.gateway.broker_overrides:
        world.gateway.broker_overrides[broker].update(values)


def test_a_mechanism_that_a_broker_does_not_enable_is_refused(world, user):
    settings(world, **{"sasl.enabled.mechanisms": f"{OLD},{NEW}"})
    world.gateway.broker_overrides[2]["sasl.enabled.mechanisms"] = OLD
    with pytest.raises(Conflict, match="broker 2 does not enable") as caught:
        world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert caught.value.code == "mechanism-not-enabled"


def test_a_listener_that_does_not_enable_it_is_named(world, user):
    own = "listener.name.outside.sasl.enabled.mechanisms"
    settings(world, **{"sasl.enabled.mechanisms": f"{OLD}, {NEW}", own: OLD})
    plan = world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert "listener.name.outside" in text_of(plan, "mechanism-not-everywhere")
    assert "mechanism-unknown" not in {row["code"] for row in plan.impact["warnings"]}


def test_what_cannot_be_read_is_said_to_be_unknown(world, user):
    world.gateway.fail_next("broker_configs", unreachable("x"))
    plan = world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert "is unknown" in text_of(plan, "mechanism-unknown")
    assert "could not be read" in text_of(plan, "old-password-until")


@pytest.mark.parametrize(
    ("value", "said"),
    [("0", "go on until they close by themselves"), ("60000", "login again within 1 minute")],
)
def test_the_plan_says_what_becomes_of_open_connections(world, user, value, said):
    settings(world, **{"connections.max.reauth.ms": value})
    plan = world.plan("user.rotate", username="app", overlap_s=HOUR)
    assert said in text_of(plan, "old-password-until")


@pytest.mark.parametrize("overlap_s", [-1, 30 * 86_400 + 1, "soon"])
def test_the_time_has_bounds(world, user, overlap_s):
    with pytest.raises(Problem) as caught:
        world.plan("user.rotate", username="app", overlap_s=overlap_s)
    assert caught.value.errors[0]["pointer"] == "/inputs/overlap_s"
