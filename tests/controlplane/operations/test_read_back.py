"""A verifying step waits while the truth differs from the plan, and says what differs."""

import itertools
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from controlplane.common.grants import EVERYTHING
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.fake import FakeGateway
from controlplane.operations import read_back as reading_back
from controlplane.operations.details import detail_from
from controlplane.operations.operations import Done, Phase, Progress, Wait, kind_names, kind_of
from controlplane.operations.read_back import (
    ASK_AGAIN_S,
    POLL_S,
    read_back,
    read_back_everywhere,
    verified_by,
)
from controlplane.operations.selectors import operation_get
from tests.controlplane.support import drive, step

PROGRESS = Progress(done=1, total=2, unit="partitions")


def test_what_differs_is_waited_for_and_said():
    assert read_back("orders is not seen yet", progress=PROGRESS) == Wait(
        seconds=POLL_S, detail="orders is not seen yet", progress=PROGRESS
    )
    assert read_back("not there", poll_s=2.0) == Wait(seconds=2.0, detail="not there")


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_that_differs_is_done(nothing):
    assert read_back(nothing) == Done(detail="read back as planned")
    assert read_back(nothing, detail="gone", progress=PROGRESS) == Done(
        detail="gone", progress=PROGRESS
    )


def test_the_step_is_bound_to_its_method_and_runs_after_the_others():
    def compare(kind, context): ...

    step = verified_by(compare, deadline_s=5.0)
    assert (step.name, step.run, step.phase, step.deadline_s) == (
        "verify",
        compare,
        Phase.VERIFY,
        5.0,
    )


@pytest.mark.parametrize("name", kind_names())
def test_every_kind_verifies_before_it_succeeds(name):
    assert any(step.phase is Phase.VERIFY for step in kind_of(name).steps)


# -- every live broker is asked


class Asked:
    """A step that reads back, over the fake cluster."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.memo = {}

    def look(self, differing=None, **options):
        return read_back_everywhere(self, self.gateway, differing or has_orders, **options)


def has_orders(view, _broker):
    return None if view.describe_topics(["orders"]) else "orders is not seen yet"


@pytest.fixture
def asked():
    gateway = FakeGateway(brokers=3)
    gateway.hold_back(2)
    gateway.add_topic("orders")
    return Asked(gateway)


def test_one_broker_that_is_behind_is_named_and_asked_again(asked):
    assert asked.look() == Wait(seconds=POLL_S, detail="broker 2: orders is not seen yet")
    assert asked.memo["read_back"]["agreed"] == [1, 3]
    asked.gateway.calls.clear()
    assert asked.look().detail == "broker 2: orders is not seen yet"
    assert asked.gateway.calls.count("describe_topics") == 1, "who agreed is not asked again"
    asked.gateway.catch_up(2)
    assert asked.look(detail="seen") == Done(detail="seen")


def test_a_silent_broker_is_asked_again_and_then_unknown(asked, monkeypatch):
    asked.gateway.catch_up(2)
    asked.gateway.silent = {3}
    assert asked.look() == Wait(seconds=ASK_AGAIN_S, detail="broker 3 did not answer; asked again")
    monkeypatch.setattr(reading_back, "UNKNOWN_S", 0.0)
    assert asked.look(detail="seen") == Done(detail="seen; unknown: broker 3 did not answer")


def test_silence_that_ended_is_forgotten(asked, monkeypatch):
    asked.gateway.catch_up(2)
    asked.gateway.silent = {3}
    asked.look()
    asked.gateway.silent = set()
    assert asked.look() == Done(detail="read back as planned")
    assert "silent_since_s" not in asked.memo["read_back"]


def test_a_broker_that_left_is_not_waited_for(asked):
    asked.look()
    asked.gateway.remove_broker(2)
    assert asked.look() == Done(detail="read back as planned")


def test_a_broker_that_refuses_is_unknown_at_once(asked):
    def differing(_view, broker):
        if broker == 2:
            raise GatewayError("CLUSTER_AUTHORIZATION_FAILED")

    found = asked.look(differing, detail="gone")
    assert found == Done(detail="gone; unknown: broker 2 refused (CLUSTER_AUTHORIZATION_FAILED)")


def test_where_every_broker_refuses_the_step_fails(asked):
    def differing(_view, _broker):
        raise GatewayError("CLUSTER_AUTHORIZATION_FAILED")

    with pytest.raises(GatewayError, match="CLUSTER_AUTHORIZATION_FAILED"):
        asked.look(differing)


def test_nothing_is_read_back_where_no_broker_answers(asked, monkeypatch):
    asked.gateway.silent = {1, 2, 3}
    monkeypatch.setattr(reading_back, "UNKNOWN_S", 0.0)
    assert asked.look() == Wait(seconds=ASK_AGAIN_S, detail="brokers 1, 2, 3 did not answer")


def test_a_round_is_bounded_and_goes_on_with_those_not_asked(asked, monkeypatch):
    asked.gateway.catch_up(2)
    ticks = itertools.count()
    start = timezone.now()
    # Each look at the clock is six seconds after the one before.
    clock = SimpleNamespace(now=lambda: start + timedelta(seconds=6 * next(ticks)))
    monkeypatch.setattr(reading_back, "timezone", clock)
    assert asked.look().detail == "asked 1 of 3 brokers so far"
    assert asked.look().detail == "asked 2 of 3 brokers so far"
    assert isinstance(asked.look(), Done)


ACL = {
    "principal": "User:app",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
    "resource_type": "TOPIC",
    "resource_name": "orders",
    "pattern_type": "LITERAL",
}
KINDS = {
    "topic.create": ({"name": "new", "partitions": 2}, "not in the metadata yet"),
    "topic.update": (
        {"name": "orders", "configs": {"retention.ms": "999999999"}},
        "not seen yet: retention.ms",
    ),
    "topic.partitions": ({"name": "orders", "partitions": 5}, "1 of 5 ready"),
    "topic.delete": ({"name": "orders"}, "still lists it"),
    "user.create": ({"username": "new"}, "the user is not seen yet"),
    "user.delete": ({"username": "app"}, "the user is still seen"),
    "acl.create": ({"bindings": [ACL]}, "1 rule not seen yet, 0 still seen"),
    "reassignment": (
        {"moves": [{"topic": "orders", "partition": 0, "replicas": [2, 3]}]},
        "orders-0 is not assigned as planned",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_waits_for_the_one_broker_that_is_behind(world, kind):
    inputs, text = KINDS[kind]
    world.gateway.add_topic("orders", rf=2, records=5)
    world.gateway.users["app", "SCRAM-SHA-512"] = "secret"
    operation = world.start(world.plan(kind, **inputs))
    world.gateway.hold_back(4)
    drive(operation, ticks=40)
    verify = step(operation, "verify")
    assert (operation.state, verify.detail) == ("verifying", f"broker 4: {text}")
    world.gateway.catch_up(4)
    assert drive(operation).state == "succeeded"


def test_what_a_step_says_and_fails_with_is_kept_and_shown_by_codes(world):
    operation = world.start(world.plan("topic.create", name="orders", partitions=1))
    world.gateway.hold_back(4)
    drive(operation, ticks=40)
    verify = step(operation, "verify")
    first = verify.detail_parts[0]
    assert first["code"] == "lead/brokers"
    assert first["params"] == {"count": 1, "brokers": "4"}
    assert verify.detail.startswith(f"{first['text']} ")
    shown = operation_get(world.tenant, EVERYTHING, operation.id)["steps"]
    (row,) = [row for row in shown if row["name"] == "verify"]
    assert (row["detail"], row["detail_parts"]) == (verify.detail, verify.detail_parts)
    verify.started_at = timezone.now() - timedelta(hours=1)
    verify.save()
    assert drive(operation).state == "failed"
    failed = step(operation, "verify")
    seen = failed.detail_parts
    assert (seen[0]["code"], seen[0]["params"]["seconds"]) == ("lead/step-took-longer", 60)
    assert seen[1:] == verify.detail_parts
    assert failed.detail == str(detail_from(seen))
    error = operation_get(world.tenant, EVERYTHING, operation.id)["error"]
    assert (error["detail"], error["detail_parts"]) == (failed.detail, seen)


def test_a_broker_that_lists_a_deleted_topic_no_more_but_holds_it_is_named(world, monkeypatch):
    world.gateway.add_topic("orders", partitions=2, rf=1)
    operation = world.start(world.plan("topic.delete", name="orders"))
    held = world.gateway.log_dirs(["orders"])

    def log_dirs(topics=None, *, brokers=None):
        return [replica for replica in held if replica.broker in (brokers or ())]

    monkeypatch.setattr(world.gateway, "log_dirs", log_dirs)
    drive(operation, ticks=10)
    assert step(operation, "verify").detail == "brokers 1, 2: still holds 1 replica"
    held.clear()
    assert drive(operation).state == "succeeded"
