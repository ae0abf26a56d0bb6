"""cluster.restart: broker by broker, whatever happens meanwhile."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters import roll_steps
from controlplane.clusters.hosts import Observed
from controlplane.clusters.models import REGISTERED, Cluster
from controlplane.clusters.services import restart_broker
from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.errors import TIMED_OUT, GatewayError
from controlplane.gateway.types import TP
from controlplane.operations import engine, outbox
from controlplane.operations.details import detail_from
from controlplane.operations.models import Operation
from controlplane.operations.services import operation_cancel, operation_pause, operation_resume
from controlplane.operations.states import ACTIVE_STATES
from tests.controlplane.clusters.rolled import KIND, begin, generations, states, until
from tests.controlplane.support import ACTOR, client_for, drive, step

MIN_ISR = "min.insync.replicas"


def written(world):
    """Broker ids in the order in which their hosts were told."""
    return [spec["broker_id"] for spec in world.hosts.desired.values()]


def cancel(world, operation):
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    return drive(operation)


# -- the way through
def test_all_of_them_once_and_the_controller_last(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    assert [row["id"] for row in plan.diff["brokers"]] == [2, 3, 1]
    assert [row["is_controller"] for row in plan.diff["brokers"]] == [False, False, True]
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert generations(brokers) == {1: 2, 2: 2, 3: 2}
    assert written(brokers) == [2, 3, 1]
    assert states(operation) == {2: "done", 3: "done", 1: "done"}
    shown = operation.memo["outcome"]["roll"]["brokers"]
    assert all(row["restarted_at"] and row["registered_at"] and row["in_sync_at"] for row in shown)


def test_only_those_that_are_asked_for(brokers):
    assert drive(begin(brokers, brokers=[3])).state == "succeeded"
    assert generations(brokers) == {1: 1, 2: 1, 3: 2}
    with pytest.raises(Problem) as caught:
        brokers.plan(KIND, brokers=[9])
    assert caught.value.as_dict()["errors"][0]["pointer"] == "/inputs/brokers"


def test_not_those_of_others(brokers):
    Cluster.objects.update(kind=REGISTERED)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND)
    assert caught.value.code == "cluster-not-managed"


def test_a_plan_of_before_a_restart_is_stale(brokers):
    plan = brokers.plan(KIND)
    restart_broker(Cluster.objects.get(), 1)
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


def test_the_plan_names_what_no_order_can_avoid(brokers):
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    brokers.gateway.add_topic("pair", partitions=1, rf=2)
    brokers.gateway.topics["pair"].configs[MIN_ISR] = "2"
    plan = brokers.plan(KIND, canary_s=0)
    offline, unwritable = plan.impact["blast_radius"]
    assert (offline["names"], unwritable["names"]) == (["alone"], ["pair"])
    assert plan.confirm_phrase == "main"
    assert drive(brokers.start(plan)).state == "succeeded"


def test_leaders_that_prefer_a_broker_are_its_own_again(brokers):
    for part in brokers.gateway.topics["orders"].partitions:
        part.led_by = part.replicas[1]
    assert drive(begin(brokers)).state == "succeeded"
    for part in brokers.gateway.describe_topics(["orders"])["orders"].partitions:
        assert part.leader == part.replicas[0]


# -- what is in the way
def test_no_other_one_while_replicas_are_behind(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({2})
    drive(operation, ticks=5)
    assert states(operation) == {2: "done", 3: "waiting", 1: "waiting"}
    roll = operation.memo["outcome"]["roll"]
    assert "replicas out of sync (orders-0)" in roll["waiting_for"][0]
    assert [detail_from(rows) for rows in roll["waiting_for_parts"]] == roll["waiting_for"]
    assert "replicas out of sync" in step(operation, "roll").detail
    part.out_of_sync = frozenset()
    assert drive(operation).state == "succeeded"


def test_a_reassignment_that_somebody_has_begun_is_waited_for(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    brokers.gateway.polls_to_move = 10**6
    brokers.gateway.reassign({TP("orders", 0): [3, 2, 1]})
    drive(operation, ticks=4)
    assert states(operation)[3] == "waiting"
    assert "being reassigned" in step(operation, "roll").detail
    brokers.gateway.reassign({TP("orders", 0): None})
    assert drive(operation).state == "succeeded"


def test_what_shrinks_between_the_choice_and_the_restart_sends_it_back(brokers):
    """Chosen, and then asked again right before: nothing has been done to it."""
    operation = until(begin(brokers), lambda found: found.get(2) == "restarting")
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({3})
    drive(operation, ticks=2)
    assert states(operation)[2] == "waiting"
    assert generations(brokers) == {1: 1, 2: 1, 3: 1}
    part.out_of_sync = frozenset()
    assert drive(operation).state == "succeeded"


def test_every_broker_is_asked_not_only_the_one_that_answers_first(brokers):
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({1})
    brokers.gateway.hold_back(3)
    part.out_of_sync = frozenset()
    operation = drive(begin(brokers), ticks=8)
    assert generations(brokers) == {1: 1, 2: 1, 3: 1}
    assert "as broker 3 says" in operation.memo["outcome"]["roll"]["waiting_for"][0]
    brokers.gateway.catch_up(3)
    assert drive(operation).state == "succeeded"


def test_a_silent_broker_is_in_the_way(brokers):
    brokers.gateway.silent.add(3)
    operation = drive(begin(brokers), ticks=8)
    assert generations(brokers)[2] == 1
    assert "broker 3 does not answer" in str(operation.memo["outcome"]["roll"]["waiting_for"])
    brokers.gateway.silent.clear()
    assert drive(operation).state == "succeeded"


def test_a_controller_that_moves_is_taken_last_all_the_same(brokers, monkeypatch):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    described = brokers.gateway.describe_cluster
    monkeypatch.setattr(
        brokers.gateway, "describe_cluster", lambda: replace(described(), controller_id=3)
    )
    assert drive(operation).state == "succeeded"
    assert written(brokers) == [2, 1, 3]


def test_one_that_becomes_the_controller_when_it_is_chosen_waits(brokers, monkeypatch):
    operation = until(begin(brokers), lambda found: found.get(2) == "restarting")
    described = brokers.gateway.describe_cluster
    monkeypatch.setattr(
        brokers.gateway, "describe_cluster", lambda: replace(described(), controller_id=2)
    )
    assert drive(operation).state == "succeeded"
    assert written(brokers) == [3, 1, 2]


def test_one_that_may_be_recovering_is_left_alone(brokers):
    node = brokers.gateway.brokers.pop(3)
    key = ("host-3", f"{brokers.cluster.id}-3")
    brokers.hosts.reports[key] = Observed(state="running", generation=1, pid=7)
    operation = drive(begin(brokers), ticks=6)
    assert generations(brokers) == {1: 1, 2: 1, 3: 1}
    assert "recovering its logs" in step(operation, "roll").detail
    del brokers.hosts.reports[key]
    brokers.gateway.brokers[3] = node
    assert drive(operation).state == "succeeded"


def test_one_that_is_down_is_taken_first(brokers):
    node = brokers.gateway.brokers.pop(3)
    plan = brokers.plan(KIND, canary_s=0)
    assert plan.diff["brokers"][0]["id"] == 3
    assert "brokers-away" in {row["code"] for row in plan.impact["warnings"]}
    operation = until(brokers.start(plan), lambda found: found.get(3) == "returning")
    drive(operation, ticks=4)
    assert generations(brokers) == {1: 1, 2: 1, 3: 2}
    brokers.gateway.brokers[3] = node
    assert drive(operation).state == "succeeded"


# -- waits end, and by their names
def test_what_stays_in_the_way_ends_the_roll(brokers, clock):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({2})
    drive(operation, ticks=3)
    clock.pass_s(roll_steps.SAFE_S + 1)
    drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "roll-not-safe")
    assert operation.remains == ["Restarted: broker 2. Not restarted: brokers 1, 3."]
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}
    assert states(operation) == {2: "done", 3: "left", 1: "left"}


def test_a_broker_that_does_not_come_back_ends_the_roll(brokers, clock):
    operation = until(begin(brokers), lambda found: found.get(2) == "returning")
    brokers.gateway.brokers.pop(2)
    drive(operation, ticks=3)
    clock.pass_s(roll_steps.RETURN_S + 1)
    drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "broker-not-back")
    assert operation.remains == ["Failed: broker 2. Not restarted: brokers 1, 3."]
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}


def test_one_that_does_not_start_ends_the_roll_with_its_log(brokers):
    key = ("host-2", f"{brokers.cluster.id}-2")
    brokers.hosts.reports[key] = Observed(
        state="failed", generation=2, message="no room", log_tail=("no space left",)
    )
    operation = drive(begin(brokers))
    assert (operation.state, operation.error["code"]) == ("failed", "broker-does-not-start")
    assert operation.error["log_tail"] == ["no space left"]
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}


def test_replicas_that_do_not_catch_up_end_the_roll(brokers, clock):
    (part, *_) = brokers.gateway.topics["orders"].partitions
    operation = until(begin(brokers), lambda found: found.get(2) == "returning")
    part.out_of_sync = frozenset({2})
    drive(operation, ticks=4)
    assert states(operation)[2] == "catching-up"
    clock.pass_s(roll_steps.IN_SYNC_S + 1)
    assert drive(operation).error["code"] == "replicas-not-in-sync"


def test_leaders_that_do_not_move_back_end_nothing(brokers, clock, monkeypatch):
    for part in brokers.gateway.topics["orders"].partitions:
        part.led_by = 1
    monkeypatch.setattr(brokers.gateway, "elect_preferred_leaders", lambda _: {})
    operation = until(begin(brokers), lambda found: found.get(2) == "electing")
    drive(operation, ticks=2)
    clock.pass_s(roll_steps.ELECT_S + 1)
    drive(operation, ticks=1)
    assert states(operation)[2] == "done"
    (row, *_) = operation.memo["outcome"]["roll"]["brokers"]
    assert row["note"] == "1 partition that prefer it are led by others"


def test_a_cluster_that_is_away_is_waited_for_and_no_longer(brokers, clock):
    operation = until(begin(brokers), lambda found: found.get(2) == "returning")
    brokers.gateway.offline = True
    drive(operation, ticks=4)
    assert operation.state == "running"
    clock.pass_s(roll_steps.RETURN_S + 1)
    drive(operation, ticks=2)
    assert operation.error["code"] == "broker-not-back"


def test_zookeeper_that_is_away_is_waited_for(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "restarting")
    brokers.hosts.is_away = True
    drive(operation, ticks=4)
    assert operation.state == "running"
    brokers.hosts.is_away = False
    assert drive(operation).state == "succeeded"
    assert generations(brokers) == {1: 2, 2: 2, 3: 2}


# -- a killed worker
class KilledError(BaseException):
    """What a test raises where a process would be gone."""


@pytest.mark.parametrize("number", range(1, 20))
def test_killed_before_the_outcome_of_any_tick_nobody_is_restarted_twice(
    brokers, monkeypatch, number
):
    told = []
    write = brokers.hosts.write_desired

    def noted(key, spec):
        told.append((spec["broker_id"], spec["generation"]))
        write(key, spec)

    monkeypatch.setattr(brokers.hosts, "write_desired", noted)
    operation = drive(begin(brokers), ticks=number)
    assert operation.state in ACTIVE_STATES, "a roll has more ticks than there are cases"

    def die(*_, **__):
        raise KilledError

    with monkeypatch.context() as patch:
        # In the transaction that stores the outcome, or the end.
        patch.setattr(outbox, "ask", die)
        patch.setattr(engine, "audit_record", die)
        with pytest.raises(KilledError):
            engine.tick(operation.id)
    past = timezone.now() - timedelta(seconds=60)
    Operation.objects.filter(pk=operation.pk).update(lease_expires_at=past, next_run_at=past)
    assert drive(operation).state == "succeeded"
    assert set(told) == {(1, 2), (2, 2), (3, 2)}, "each by one generation"
    assert list(dict.fromkeys(broker for broker, _ in told)) == [2, 3, 1]


# -- aborted
@pytest.mark.parametrize("number", range(20))
def test_aborted_at_any_tick_the_one_under_way_comes_back_and_the_rest_stays(brokers, number):
    operation = drive(begin(brokers), ticks=number)
    assert operation.state in ACTIVE_STATES, "a roll has more ticks than there are cases"
    before = generations(brokers)
    assert cancel(brokers, operation).state == "cancelled"
    assert generations(brokers) == before, "nobody was taken any more"
    restarted = {broker for broker, generation in before.items() if generation == 2}
    found = states(operation)
    if found:
        assert {broker for broker, state in found.items() if state == "done"} == restarted
        assert set(found.values()) <= {"done", "left"}
    if not restarted:
        assert operation.remains == []
    else:
        (said,) = operation.remains
        assert said.startswith("Restarted:")
        assert ("Not restarted:" in said) == (len(restarted) < 3)
    assert not operation.locks.exists()


def test_the_one_under_way_is_waited_for(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "returning")
    node = brokers.gateway.brokers.pop(2)
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation, ticks=6)
    assert operation.state == "cancelling"
    brokers.gateway.brokers[2] = node
    assert drive(operation).state == "cancelled"
    assert operation.remains == ["Restarted: broker 2. Not restarted: brokers 1, 3."]


# -- paused
def pause(world, operation):
    return operation_pause(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)


def test_a_pause_lets_the_one_under_way_finish_and_takes_no_other(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "returning")
    pause(brokers, operation)
    drive(operation, ticks=20)
    assert states(operation) == {2: "done", 3: "waiting", 1: "waiting"}
    assert step(operation, "roll").detail == "paused by user:test; broker 3 is next"
    operation_resume(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "succeeded"


def test_one_that_is_only_chosen_is_not_taken_in_a_pause(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "restarting")
    pause(brokers, operation)
    drive(operation, ticks=4)
    assert set(states(operation).values()) == {"waiting"}
    assert generations(brokers) == {1: 1, 2: 1, 3: 1}
    operation_resume(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "succeeded"


def test_a_paused_one_can_be_aborted(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    pause(brokers, operation)
    drive(operation, ticks=2)
    assert cancel(brokers, operation).state == "cancelled"
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}


def test_a_pause_does_not_last_for_ever(brokers, clock):
    operation = begin(brokers)
    pause(brokers, operation)
    drive(operation, ticks=4)
    clock.pass_s(roll_steps.PAUSED_S + 1)
    assert drive(operation).error["code"] == "paused-too-long"
    assert operation.remains == []


def test_pausing_by_rest(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    base = f"/api/v1/operations/{operation.id}"
    owner = client_for(brokers.tenant)
    for _ in range(2):  # again it is the same
        answer = owner.post(f"{base}/pause")
        assert answer.status_code == 202
    assert answer.data["paused_at"]
    assert answer.data["paused_by"] == "user:acme-owner"
    assert answer.data["pausable"]
    assert next(row["state"] for row in answer.data["outcome"]["roll"]["brokers"]) == "done"
    assert client_for(brokers.tenant, "viewer").post(f"{base}/pause").status_code == 403
    answer = owner.post(f"{base}/resumption")
    assert (answer.status_code, answer.data["paused_at"]) == (202, None)
    drive(operation)
    answer = owner.post(f"{base}/pause")
    assert (answer.status_code, answer.json()["code"]) == (409, "not-pausable")


def test_other_kinds_cannot_be_paused(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    with pytest.raises(Conflict) as caught:
        pause(world, operation)
    assert caught.value.code == "not-pausable"


# -- the canary
def test_the_first_one_is_looked_at_before_the_second(brokers, clock):
    operation = until(begin(brokers, canary_s=60), lambda found: found.get(2) == "observing")
    drive(operation, ticks=4)
    assert states(operation)[2] == "observing"
    clock.pass_s(61)
    assert drive(operation).state == "succeeded"
    assert written(brokers) == [2, 3, 1]


def test_a_canary_that_makes_it_worse_stops_the_roll(brokers, clock):
    operation = until(begin(brokers, canary_s=60), lambda found: found.get(2) == "observing")
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({3})
    drive(operation, ticks=2)
    assert operation.state == "running", "a moment is not enough"
    clock.pass_s(roll_steps.WORSE_S + 1)
    drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "canary-worse")
    assert "1 partitions under-replicated, 0 before" in operation.error["detail"]
    assert generations(brokers) == {1: 1, 2: 2, 3: 1}


def test_what_was_wrong_before_is_no_ones_fault(brokers, clock):
    """A partition that needs more than there is: the guard waits, the canary never counts it."""
    brokers.gateway.add_topic("alone", partitions=1, rf=1)
    operation = until(begin(brokers, canary_s=60), lambda found: found.get(2) == "observing")
    (part, *_) = brokers.gateway.topics["orders"].partitions
    part.out_of_sync = frozenset({3})
    drive(operation, ticks=2)
    part.out_of_sync = frozenset()
    drive(operation, ticks=2)
    clock.pass_s(61)
    assert drive(operation).state == "succeeded"


def test_a_refusal_ends_it_and_says_so(brokers):
    operation = until(begin(brokers), lambda found: found.get(2) == "done")
    brokers.gateway.fail_next("list_topics", GatewayError("CLUSTER_AUTHORIZATION_FAILED"))
    drive(operation)
    assert operation.error["kafka_error"] == "CLUSTER_AUTHORIZATION_FAILED"
    assert operation.remains == ["Restarted: broker 2. Not restarted: brokers 1, 3."]


def test_min_isr_that_nobody_says_is_in_the_way(brokers):
    operation = begin(brokers)
    drive(operation, ticks=1)
    timed_out = GatewayError(TIMED_OUT, "no answer in 10 s")
    brokers.gateway.fail_next("topic_configs", timed_out)
    drive(operation, ticks=1)
    assert "min.insync.replicas of 1 topic is unknown" in step(operation, "roll").detail
    assert drive(operation).state == "succeeded"
