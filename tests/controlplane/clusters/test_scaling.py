"""Brokers are added to a cluster and removed from it, whatever happens meanwhile."""

from dataclasses import replace

import pytest

from controlplane.administration.selectors import plan_placement
from controlplane.clusters.models import REGISTERED, Broker, Cluster, HostState, OwedDeletion
from controlplane.clusters.reports import Observed
from controlplane.clusters.selectors import cluster_get
from controlplane.clusters.services import AWAY_GRACE_S
from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import Conflict, Problem
from controlplane.gateway.types import TP
from controlplane.operations.services import undo_plan_create
from tests.controlplane.kind_plans import add_broker, add_served_broker
from tests.controlplane.operations.test_restores import REFUSAL
from tests.controlplane.operations.trouble import AFTER, BEFORE, act, raising
from tests.controlplane.support import ACTOR, client_for, drive, only_on, step, tenant_make

ADD, REMOVE = "cluster.add_brokers", "cluster.remove_brokers"


@pytest.fixture
def brokers(world):
    """The world's cluster with rows for its brokers 1 to 4, which are up."""
    for number in (1, 2, 3, 4):
        add_broker(world, number)
    world.hosts.make_chroot(world.cluster.zookeeper_path)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    for part in world.gateway.topics["orders"].partitions:
        part.replicas = (1, 2, 3)
    return world


@pytest.fixture
def grown(brokers):
    """With broker 11, which came later and holds nothing."""
    add_served_broker(brokers, 11)
    return brokers


def cluster():
    return Cluster.objects.get(name="main")


def ids():
    return list(Broker.objects.filter(cluster=cluster()).values_list("broker_id", flat=True))


def place_on(world, broker, topic="orders"):
    world.gateway.topics[topic].partitions[0].replicas = (1, 2, broker)


def states_desired(world):
    return {spec["broker_id"]: spec["state"] for spec in world.hosts.desired.values()}


# -- out
def test_new_brokers_get_places_ids_and_reasons(brokers):
    plan = brokers.plan(ADD, count=2)
    assert [row["broker_id"] for row in plan.diff["brokers"]] == [5, 6]
    assert (plan.diff["count_before"], plan.diff["count_after"]) == (4, 6)
    assert all(row["reason"].startswith("Rack rack-") for row in plan.diff["brokers"])
    assert not any("host_id" in row for row in plan.diff["brokers"])
    assert set(plan.preconditions["explained"]["reasons"]) == {"5", "6"}
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert ids() == [1, 2, 3, 4, 5, 6]
    assert {5, 6} <= brokers.gateway.brokers.keys()
    assert cluster().highest_broker_id == 6
    new = Broker.objects.get(cluster=cluster(), broker_id=6)
    assert new.desired_state == "running"
    assert f"{new.address}:{new.client_port}" in cluster().bootstrap_servers.split(",")


def test_operators_read_which_hosts_and_why(brokers):
    plan = brokers.plan(ADD, count=1)
    (row,) = plan_placement(plan.pk)["placed"]
    assert (row["broker_id"], row["host_id"]) == (
        5,
        plan.preconditions["placement"][0]["host_id"],
    )
    assert "of disk free" in row["reason"] or "free disk not known" in row["reason"]


def test_the_rebalance_is_offered_next_under_a_limit(brokers):
    operation = brokers.run(ADD, count=1)
    offered = operation.memo["outcome"]["next_plan"]
    assert offered["kind"] == "reassignment"
    assert offered["inputs"]["target_brokers"] == [1, 2, 3, 4, 5]
    assert offered["inputs"]["throttle_bytes_per_s"] > 0
    plan = brokers.plan(offered["kind"], **offered["inputs"])
    assert any(5 in row["after"] for row in plan.diff["partitions"])


def test_the_undo_removes_them_while_they_are_empty(brokers):
    operation = brokers.run(ADD, count=1)
    undo = undo_plan_create(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(brokers.start(undo)).state == "succeeded"
    assert ids() == [1, 2, 3, 4]
    # And the id that was wiped is nobody's again.
    assert [row["broker_id"] for row in brokers.plan(ADD, count=1).diff["brokers"]] == [6]


def test_the_undo_is_refused_once_one_holds_a_replica(brokers):
    operation = brokers.run(ADD, count=1)
    place_on(brokers, 5)
    with pytest.raises(Conflict) as caught:
        undo_plan_create(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert caught.value.code == "broker-not-empty"


def test_a_place_that_is_gone_makes_the_plan_stale(brokers):
    plan = brokers.plan(ADD, count=1)
    host = plan.preconditions["placement"][0]["host_id"]
    HostState.objects.create(host_id=host, by="test")
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


def test_a_place_that_goes_right_before_the_step_fails_it(brokers):
    plan = brokers.plan(ADD, count=1)
    operation = brokers.start(plan)
    HostState.objects.create(host_id=plan.preconditions["placement"][0]["host_id"], by="test")
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "place-gone"
    assert ids() == [1, 2, 3, 4]
    assert 5 not in states_desired(brokers)


def test_a_plan_whose_ids_were_given_to_others_is_stale(brokers):
    plan = brokers.plan(ADD, count=1)
    assert brokers.run(ADD, count=1).state == "succeeded"
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


def test_one_that_does_not_start_takes_away_what_was_made(brokers):
    plan = brokers.plan(ADD, count=1)
    host = plan.preconditions["placement"][0]["host_id"]
    operation = brokers.start(plan)
    key = (host, f"{brokers.cluster.id}-5")

    brokers.hosts.reports[key] = Observed(state="failed", generation=1, message="no disk")
    drive(operation, ticks=3)
    brokers.hosts.reports.clear()  # from here on its agent does what it is told
    drive(operation)
    assert operation.state == "failed"
    assert operation.error["code"] == "broker-does-not-start"
    assert ids() == [1, 2, 3, 4]
    assert key not in brokers.hosts.desired
    assert cluster().highest_broker_id == 5


def test_one_that_got_replicas_meanwhile_is_not_taken_away(brokers, monkeypatch):
    operation = brokers.start(brokers.plan(ADD, count=2))

    def fail():
        place_on(brokers, 5)
        raise REFUSAL

    act(monkeypatch, (ADD, "registration"), AFTER, fail)
    assert drive(operation).state == "failed"
    assert operation.remains == ["Broker 5 stays: replicas were put on it meanwhile."]
    assert ids() == [1, 2, 3, 4, 5]
    assert states_desired(brokers)[5] == "running"
    assert 6 not in states_desired(brokers)
    assert Broker.objects.get(cluster=cluster(), broker_id=5).desired_state == "running"


def test_a_cluster_that_grows_is_updating_and_misses_nobody(brokers):
    operation = drive(brokers.start(brokers.plan(ADD, count=1)), ticks=1)
    assert cluster_get(brokers.tenant, EVERYTHING, brokers.cluster.id)["phase"] == "UPDATING"
    drive(operation)
    assert cluster_get(brokers.tenant, EVERYTHING, brokers.cluster.id)["phase"] != "UPDATING"


def test_defaults_of_one_broker_stay_and_are_forgotten_with_a_failure(world, monkeypatch):
    add_broker(world, 1)
    world.gateway.add_topic("orders", partitions=1, rf=1)
    plan = world.plan(ADD, count=2)
    assert plan.diff["settings_kept"]["default.replication.factor"] == "1"
    assert any(row["code"] == "settings-kept" for row in plan.impact["warnings"])
    operation = world.start(plan)
    assert cluster().config == plan.diff["settings_kept"]
    with monkeypatch.context() as patch:
        act(patch, (ADD, "desired"), BEFORE, raising(REFUSAL))
        assert drive(operation).state == "failed"
    assert cluster().config == {}
    assert world.run(ADD, count=2).state == "succeeded"
    spec = next(spec for spec in world.hosts.desired.values() if spec["state"] == "running")
    assert spec["config"]["default.replication.factor"] == "1"


def test_a_tenant_has_its_share_of_brokers(brokers, settings):
    settings.BROKERS_PER_TENANT = 5
    with pytest.raises(Conflict) as caught:
        brokers.plan(ADD, count=2)
    assert caught.value.code == "too-many-brokers"


@pytest.mark.parametrize(("kind", "inputs"), [(ADD, {"count": 1}), (REMOVE, {"brokers": [1]})])
def test_not_those_of_others(brokers, kind, inputs):
    Cluster.objects.update(kind=REGISTERED)
    with pytest.raises(Conflict) as caught:
        brokers.plan(kind, **inputs)
    assert caught.value.code == "cluster-not-managed"


# -- in
def test_an_empty_broker_is_stopped_wiped_and_forgotten(grown):
    before = Broker.objects.get(cluster=cluster(), broker_id=11)
    plan = grown.plan(REMOVE, brokers=[11])
    assert plan.confirm_phrase == "main"
    assert (plan.diff["count_before"], plan.diff["count_after"]) == (5, 4)
    operation = drive(grown.start(plan))
    assert operation.state == "succeeded", operation.error
    assert ids() == [1, 2, 3, 4]
    assert 11 not in grown.gateway.brokers
    assert 11 not in states_desired(grown)
    assert f"{before.address}:{before.client_port}" not in cluster().bootstrap_servers
    assert cluster().highest_broker_id == 11


def test_the_controller_is_stopped_last(grown):
    add_served_broker(grown, 12)
    for number in (1, 2, 3, 4):
        grown.gateway.brokers.pop(number)
    for part in grown.gateway.topics["orders"].partitions:
        part.replicas = (13,)
    add_served_broker(grown, 13)
    plan = grown.plan(REMOVE, brokers=[11, 12])
    assert [row["id"] for row in plan.diff["brokers"]] == [12, 11]
    assert [row["is_controller"] for row in plan.diff["brokers"]] == [False, True]
    assert any(row["code"] == "controller-moves" for row in plan.impact["warnings"])
    told = []
    write = grown.hosts.write_desired
    grown.hosts.write_desired = lambda key, spec: (
        told.append((spec["broker_id"], spec["state"])),
        write(key, spec),
    )
    assert drive(grown.start(plan)).state == "succeeded"
    assert told[:2] == [(12, "stopped"), (11, "stopped")]


def test_refused_while_a_replica_remains_with_the_drain(grown):
    place_on(grown, 11)
    with pytest.raises(Conflict) as caught:
        grown.plan(REMOVE, brokers=[11])
    problem = caught.value.as_dict()
    assert problem["code"] == "broker-not-empty"
    assert problem["partitions"] == ["orders-0"]
    drain = problem["next_plan"]
    assert grown.run(drain["kind"], **drain["inputs"]).state == "succeeded"
    assert grown.run(REMOVE, brokers=[11]).state == "succeeded"


def test_the_refusal_by_rest_says_the_drain_too(grown):
    place_on(grown, 11)
    body = {"kind": REMOVE, "cluster_id": grown.cluster.id, "inputs": {"brokers": [11]}}
    answer = client_for(grown.tenant, "operator").post("/api/v1/plans", body, format="json")
    assert answer.status_code == 409
    assert answer.json()["next_plan"]["inputs"]["drain_broker"] == 11
    assert answer.json()["partitions_total"] == 1


@pytest.mark.parametrize("kind", [ADD, REMOVE])
def test_not_of_another_tenant_and_not_by_a_viewer(grown, kind):
    inputs = {"count": 1} if kind == ADD else {"brokers": [11]}
    body = {"kind": kind, "cluster_id": grown.cluster.id, "inputs": inputs}
    other = client_for(tenant_make("other"), "owner")
    assert other.post("/api/v1/plans", body, format="json").status_code == 404
    viewer = client_for(grown.tenant, "viewer")
    assert viewer.post("/api/v1/plans", body, format="json").status_code == 403


def test_a_replica_that_comes_before_the_confirmation_makes_it_stale(grown):
    plan = grown.plan(REMOVE, brokers=[11])
    place_on(grown, 11)
    with pytest.raises(Conflict) as caught:
        grown.start(plan)
    assert caught.value.code == "plan-stale"
    assert "Broker 11 still holds" in caught.value.detail


@pytest.mark.parametrize(("at", "when"), [("check", BEFORE), ("check", AFTER)])
def test_a_replica_that_comes_before_the_stop_leaves_it_running(grown, monkeypatch, at, when):
    operation = grown.start(grown.plan(REMOVE, brokers=[11]))
    act(monkeypatch, (REMOVE, at), when, lambda: place_on(grown, 11))
    assert drive(operation).state == "failed"
    assert operation.error["code"] == "broker-not-empty"
    assert operation.remains == []
    assert states_desired(grown)[11] == "running"
    assert 11 in grown.gateway.brokers
    assert 11 in ids()


def test_a_replica_that_came_while_it_stopped_brings_it_back_with_its_data(grown, monkeypatch):
    """A client may make a topic at any time: what it got then is not wiped."""
    operation = grown.start(grown.plan(REMOVE, brokers=[11]))
    states = []
    write = grown.hosts.write_desired
    grown.hosts.write_desired = lambda key, spec: (states.append(spec["state"]), write(key, spec))
    act(monkeypatch, (REMOVE, "stop"), AFTER, lambda: place_on(grown, 11))
    drive(operation, ticks=12)
    assert "orders-0 has a replica there" in step(operation, "empty").detail
    long_ago = operation.created_at.replace(year=2020)
    operation.steps.filter(name="empty").update(started_at=long_ago)
    drive(operation)
    assert operation.state == "failed"
    assert operation.remains == []
    assert states == ["stopped", "running"]
    assert 11 in grown.gateway.brokers
    assert Broker.objects.get(cluster=cluster(), broker_id=11).desired_state == "running"


def test_one_whose_agent_is_away_is_refused(grown):
    host = Broker.objects.get(cluster=cluster(), broker_id=11).host_id
    grown.hosts.known = [replace(each, alive=each.host_id != host) for each in grown.hosts.known]
    with pytest.raises(Conflict) as caught:
        grown.plan(REMOVE, brokers=[11])
    assert caught.value.code == "host-away"


def test_a_host_that_goes_after_the_stop_owes_the_deletion(grown, monkeypatch):
    row = Broker.objects.get(cluster=cluster(), broker_id=11)
    path = grown.cluster.zookeeper_path
    grown.hosts.directories[path, 11] = ["dir-a"]
    operation = grown.start(grown.plan(REMOVE, brokers=[11]))

    def die():
        grown.hosts.known = [
            replace(each, alive=each.host_id != row.host_id) for each in grown.hosts.known
        ]
        report = Observed(state="stopped", generation=2)
        grown.hosts.reports[row.host_id, row.key] = report

    act(monkeypatch, (REMOVE, "wipe"), BEFORE, die)
    drive(operation, ticks=16)
    assert step(operation, "wiped").state == "running"
    monkeypatch.setattr("controlplane.clusters.services.AWAY_GRACE_S", -AWAY_GRACE_S)
    assert drive(operation).state == "succeeded", operation.error
    owed = OwedDeletion.objects.get(key=row.key)
    assert (owed.broker_id, owed.client_port) == (11, row.client_port)
    assert states_desired(grown)[11] == "deleted"
    assert grown.hosts.fenced[path] == {"dir-a"}
    # Its id stays its own while its data may return.
    assert grown.plan(ADD, count=1).diff["brokers"][0]["broker_id"] == 12


def test_brokers_that_are_not_there_are_named_by_field(grown):
    with pytest.raises(Problem) as caught:
        grown.plan(REMOVE, brokers=[11, 77])
    assert caught.value.as_dict()["errors"][0]["pointer"] == "/inputs/brokers/1"
    with pytest.raises(Problem) as caught:
        grown.plan(REMOVE, brokers=[11, 11])
    assert caught.value.status == 422


def test_never_below_the_replicas_of_a_topic(grown):
    with pytest.raises(Conflict) as caught:
        grown.plan(REMOVE, brokers=[2, 3, 4])
    assert caught.value.code == "below-replication-factor"


def test_a_move_under_way_is_in_the_way(grown):
    grown.gateway.polls_to_move = 10**6
    grown.gateway.reassign({TP("orders", 0): [1, 2, 11]})
    with pytest.raises(Conflict) as caught:
        grown.plan(REMOVE, brokers=[11])
    assert caught.value.code == "reassignment-in-progress"


def test_new_places_avoid_cordoned_hosts(brokers):
    only_on("host-2", world=brokers)
    plan = brokers.plan(ADD, count=1)
    assert [row["host_id"] for row in plan.preconditions["placement"]] == ["host-2"]
