"""Rounds of scheduled rebalances over the fakes: begun, kept with its result; what REST says."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.audit.models import AuditEvent
from controlplane.clusters.models import RUNNING, Broker, HostState, LostBroker
from controlplane.healing.models import HealingCase
from controlplane.healing.states import PROPOSED
from controlplane.operations.models import Operation
from controlplane.operations.services import operation_cancel
from controlplane.reassignments import scheduled
from controlplane.reassignments.models import RebalanceSchedule, ScheduledRebalance
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.support import ACTOR, client_for, cluster_make, drive, tenant_make

ON = {"enabled": True, "threshold_percent": 20, "throttle_bytes_per_s": 50_000}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@pytest.fixture
def uneven(world):
    """Broker 1 is the preferred leader of every partition; its four brokers are there."""
    world.gateway.add_topic("orders", partitions=8, rf=2)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2)
    return world


@pytest.fixture
def clock():
    class Clock:
        now = timezone.now()

        def rounds(self, count=1, *, minutes=11):
            begun = 0
            for _ in range(count):
                self.now += timedelta(minutes=minutes)
                begun += scheduled.rebalance_round(self.now)
            return begun

    return Clock()


def address(world):
    return f"/api/v1/clusters/{world.cluster.id}/rebalance-schedule"


def switch(world, **values):
    found = client_for(world.tenant).put(address(world), {**ON, **values}, format="json")
    assert found.status_code == 200, found.json()
    return found.json()


def shown(world):
    return client_for(world.tenant).get(address(world)).json()


def code(world):
    return shown(world)["decision"]["code"]


def test_without_a_schedule_it_is_off_and_nobody_is_asked(uneven, clock):
    assert shown(uneven)["enabled"] is False
    uneven.gateway.calls.clear()
    assert clock.rounds(3) == 0
    assert uneven.gateway.calls == []


def test_out_of_balance_it_is_rebalanced_under_the_limit_and_kept(uneven, clock):
    switch(uneven)
    assert clock.rounds() == 1
    operation = Operation.objects.get()
    assert (operation.kind, operation.actor) == ("reassignment", "system")
    assert operation.reason.startswith("Scheduled. Broker 1 is the preferred leader of 8")
    assert operation.plan.inputs["throttle_bytes_per_s"] == 50_000
    assert operation.plan.inputs["target_brokers"] == [1, 2, 3, 4]
    (run,) = shown(uneven)["runs"]
    assert (run["state"], run["operation_id"], run["result"]) == ("running", operation.id, None)
    assert run["leaders_before"] == pytest.approx(300)
    far, act = run["reason_parts"]
    assert (far["code"], act["code"]) == ("far/leaders", "out-of-balance")
    assert (far["params"]["broker"], act["params"]) == ("1", {"limit_percent": 20})
    assert run["reason"] == f"{far['text']} {act['text']}"
    assert shown(uneven)["decision"]["parts"] == run["reason_parts"]
    assert clock.rounds() == 0, "one at a time"
    assert code(uneven) == "running"
    assert drive(operation).state == "succeeded"
    clock.rounds()
    (run,) = shown(uneven)["runs"]
    assert run["state"] == "succeeded"
    assert run["result"] == operation.plan.impact["summary"]
    assert run["leaders_after"] < run["leaders_before"]
    assert run["ended_at"]
    acts = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"rebalance.schedule", "rebalance.begun", "rebalance.succeeded"} <= acts
    assert clock.rounds(3) == 0
    assert code(uneven) == "rests"
    assert clock.rounds(minutes=400) == 0
    assert code(uneven) == "balanced"


def test_below_the_threshold_nothing_is_done_and_the_figures_are_shown(uneven, clock):
    switch(uneven, threshold_percent=400)
    assert clock.rounds() == 0
    found = shown(uneven)
    assert found["decision"]["code"] == "balanced"
    assert found["leaders_percent"] == pytest.approx(300)
    assert found["bytes_percent"] == 0
    assert found["looked_at"]


def test_outside_its_windows_nobody_is_asked(uneven, clock):
    other = DAYS[(clock.now.weekday() + 3) % 7]
    switch(uneven, windows=[{"day": other, "begins": "02:00", "minutes": 60}])
    uneven.gateway.calls.clear()
    assert clock.rounds() == 0
    assert uneven.gateway.calls == []
    assert code(uneven) == "outside-window"
    assert shown(uneven)["window_open"] is False


def _behind(world):
    world.gateway.topics["orders"].partitions[0].out_of_sync = frozenset({2})


def _broker_away(world):
    for number in (1, 2, 3, 4):
        add_broker(world, number)
    world.gateway.brokers.pop(4)


def _lost(world):
    LostBroker.objects.create(
        cluster=world.cluster, broker_id=9, host_id="host-1", address="x", client_port=1
    )
    add_broker(world, 1)


def _rolling(world):
    for number in (1, 2, 3, 4):
        add_broker(world, number)
    world.start(world.plan("cluster.restart"))


def _healing(world):
    HealingCase.objects.create(
        cluster=world.cluster, broker_id=1, host_id="host-1", state=PROPOSED, code="x", text="x"
    )


def _draining(world):
    add_broker(world, 1)
    Broker.objects.filter(cluster=world.cluster, broker_id__gt=1).delete()
    HostState.objects.create(host_id="host-1", state="draining", by="test")


def _moving(world):
    world.start(world.plan("reassignment", topics=["orders"], target_brokers=[3, 4]))


def _silent(world):
    world.gateway.silent.add(2)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (_behind, "under-replicated"),
        (_broker_away, "broker-away"),
        (_lost, "broker-away"),
        (_rolling, "under-way"),
        (_healing, "healing"),
        (_draining, "healing"),
        (_moving, "under-way"),
        (_silent, "sizes-unknown"),
    ],
)
def test_never_while_the_cluster_is_not_whole(uneven, clock, trouble, said):
    trouble(uneven)
    switch(uneven)
    before = Operation.objects.count()
    assert clock.rounds() == 0
    assert code(uneven) == said
    assert Operation.objects.count() == before
    assert not ScheduledRebalance.objects.exists()


def test_a_cluster_that_does_not_answer_is_not_known_to_be_balanced(uneven, clock):
    switch(uneven)
    uneven.gateway.offline = True
    assert clock.rounds() == 0
    found = shown(uneven)
    assert found["decision"]["code"] == "cluster-silent"
    assert (found["bytes_percent"], found["leaders_percent"]) == (None, None)


def test_an_operation_that_holds_a_topic_is_waited_for(uneven, clock):
    uneven.start(uneven.plan("topic.delete", name="orders"))
    switch(uneven)
    assert clock.rounds() == 0
    assert code(uneven) == "operation-in-progress"
    assert not ScheduledRebalance.objects.exists(), "the row goes with the operation"


@pytest.mark.parametrize("end", ["cancelled", "failed"])
def test_one_that_does_not_succeed_says_so_and_rests(uneven, clock, end):
    switch(uneven)
    assert clock.rounds() == 1
    operation = Operation.objects.get()
    if end == "cancelled":
        operation_cancel(tenant=uneven.tenant, actor=ACTOR, operation_id=operation.id)
        assert drive(operation).state == "cancelled"
    else:
        drive(operation, ticks=2)
        uneven.gateway.topics.pop("orders")
        assert drive(operation).state == "failed"
    clock.rounds()
    (run,) = shown(uneven)["runs"]
    assert run["state"] == end
    assert run["result"]
    assert clock.rounds(2, minutes=60) == 0
    assert code(uneven) == "rests"


def test_what_no_move_makes_better_is_said(world, clock):
    world.gateway.add_topic("orders", partitions=1, rf=4)
    switch(world, threshold_percent=5)
    world.gateway.topics["orders"].partitions[0].log_end = 10_000_000
    # One partition leads one broker of four: less than a partition from the mean.
    assert clock.rounds() == 0
    assert code(world) in ("balanced", "nothing-better")


def test_many_runs_are_bounded(uneven, clock, monkeypatch):
    monkeypatch.setattr(scheduled, "RUNS_KEPT", 2)
    switch(uneven)
    for number in range(4):
        ScheduledRebalance.objects.create(
            cluster=uneven.cluster,
            operation_id=f"op_{number}",
            reason="x",
            state="succeeded",
            began_at=clock.now - timedelta(days=9 - number),
            ended_at=clock.now - timedelta(days=9 - number),
        )
    assert clock.rounds() == 1
    assert ScheduledRebalance.objects.count() == 2


def test_two_processes_begin_one(uneven, clock, monkeypatch):
    """The second looks while the first has the lease."""
    switch(uneven)
    looked = []
    real = scheduled.facts_of

    def twice(cluster):
        if not looked:
            looked.append(scheduled.rebalance_round(clock.now))
        return real(cluster)

    monkeypatch.setattr(scheduled, "facts_of", twice)
    assert clock.rounds() == 1
    assert looked == [0]
    assert ScheduledRebalance.objects.count() == 1


# -- REST ---------------------------------------------------------------------------------------
def test_only_who_may_change_the_whole_cluster_sets_it(uneven):
    rival = tenant_make("rival")
    other = cluster_make(rival, "other", phase=RUNNING)
    client = client_for(uneven.tenant)
    elsewhere = f"/api/v1/clusters/{other.id}/rebalance-schedule"
    assert client.get(elsewhere).status_code == 404
    assert client.put(elsewhere, ON, format="json").status_code == 404
    viewer = client_for(uneven.tenant, "viewer")
    assert viewer.get(address(uneven)).status_code == 200
    assert viewer.put(address(uneven), ON, format="json").status_code == 403
    assert not RebalanceSchedule.objects.exists()


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"enabled": "perhaps"}, "/enabled"),
        ({"threshold_percent": 4}, "/threshold_percent"),
        ({"threshold_percent": 501}, "/threshold_percent"),
        ({"throttle_bytes_per_s": 10}, "/throttle_bytes_per_s"),
        ({"throttle_bytes_per_s": None}, "/throttle_bytes_per_s"),
        ({"time_zone": "Mars/Olympus"}, "/time_zone"),
        ({"windows": [{"day": "someday", "begins": "02:00", "minutes": 60}]}, "/windows/0/day"),
        ({"windows": [{"day": "sunday", "begins": "25:00", "minutes": 60}]}, "/windows/0/begins"),
        ({"windows": [{"day": "sunday", "begins": "02:00", "minutes": 60}] * 22}, "/windows"),
    ],
)
def test_bad_values_name_their_field(uneven, change, pointer):
    found = client_for(uneven.tenant).put(address(uneven), {**ON, **change}, format="json")
    assert found.status_code == 422
    assert any(row["pointer"].startswith(pointer) for row in found.json()["errors"])
    assert not RebalanceSchedule.objects.exists()


def test_what_somebody_else_changed_meanwhile_is_not_written_over(uneven):
    tag = shown(uneven)["etag"]
    switch(uneven, threshold_percent=50)
    client = client_for(uneven.tenant)
    found = client.put(address(uneven), ON, format="json", headers={"If-Match": tag})
    assert found.status_code == 412
    assert shown(uneven)["threshold_percent"] == 50


def test_a_new_word_has_the_cluster_looked_at_anew(uneven, clock):
    switch(uneven, threshold_percent=400)
    clock.rounds()
    found = switch(uneven, threshold_percent=20)
    assert found["decision"] is None
    assert clock.rounds(minutes=1) == 1
