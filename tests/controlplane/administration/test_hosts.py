"""Hosts: cordoned, drained, declared lost, let go; what is shown of them."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from controlplane.administration import selectors
from controlplane.administration.host_plans import host_plan
from controlplane.administration.host_sentences import REFUSALS, SUMMARIES
from controlplane.administration.services import hosts
from controlplane.audit.models import AuditEvent
from controlplane.clusters import losing, owed
from controlplane.clusters.candidates import ports_taken
from controlplane.clusters.capacity import Capacity
from controlplane.clusters.host_states import ACTS
from controlplane.clusters.models import Broker, HostState, LostBroker, OwedDeletion
from controlplane.clusters.placing_sentences import PLACED
from controlplane.clusters.reports import Observed
from controlplane.clusters.sealing import hosts_with_key, open_for_host
from controlplane.common.problems import Conflict, Invalid, NotFound, Unavailable
from controlplane.common.sentences import rendered
from tests.controlplane.administration.helpers import actions
from tests.controlplane.support import ACTOR, client_for, drive, operator_client, step

pytestmark = pytest.mark.django_db


def change(host_id, state, **more):
    hosts.host_change(host_id=host_id, state=state, actor=ACTOR, **more)


def declare_lost(host_id):
    plan = host_plan(host_id, "declare-lost")
    hosts.host_declare_lost(
        host_id=host_id, plan_hash=plan["plan_hash"], confirm=host_id, actor=ACTOR, reason="fire"
    )


def used_by(plan):
    return {row["host_id"] for row in plan.preconditions["placement"]}


def place(world, host_id, broker_id=1, rack=""):
    return Broker.objects.create(
        cluster=world.cluster, broker_id=broker_id, host_id=host_id, address="127.0.0.1", rack=rack,
        client_port=20_000 + 100 * broker_id, internal_port=20_001 + 100 * broker_id,
    )  # fmt: skip


def known(world, host_id, **changed):
    world.hosts.known = [
        replace(host, **changed) if host.host_id == host_id else host for host in world.hosts.known
    ]


# -- cordoned, drained --------------------------------------------------------------------------
def test_a_cordoned_host_gets_no_brokers(world):
    change("host-1", "cordoned", reason="a new disk")
    change("host-1", "cordoned")
    assert actions().count("host.cordon") == 1
    row = selectors.host_detail("host-1")
    assert (row["state"], row["state_by"], row["state_reason"], row["takes_none_because"]) == (
        "cordoned", "user:test", "a new disk", "It is cordoned.",
    )  # fmt: skip
    plan = world.plan("cluster.create", None, name="fresh", broker_count=3)
    assert used_by(plan) == {"host-2", "host-3"}
    change("host-1", "draining")
    assert used_by(world.plan("cluster.create", None, name="fresh", broker_count=3)) == used_by(
        plan
    )
    change("host-1", "active")
    assert not HostState.objects.exists()
    done = [action for action in actions() if action.startswith("host.")]
    assert done == ["host.cordon", "host.drain", "host.uncordon"]


def test_a_host_that_is_cordoned_after_the_plan_makes_it_stale(world):
    plan = world.plan("cluster.create", None, name="fresh", broker_count=3)
    change("host-2", "cordoned")
    with pytest.raises(Conflict) as refused:
        world.start(plan)
    assert refused.value.code == "plan-stale"


def test_a_place_that_is_merely_no_longer_the_best_is_kept(world):
    plan = world.plan("cluster.create", None, name="fresh", broker_count=1)
    (host_id,) = used_by(plan)
    known(world, host_id, capacity=Capacity(disk_total_bytes=100 * 2**30, disk_free_bytes=2**31))
    assert drive(world.start(plan)).state == "succeeded"


def test_a_host_that_is_cordoned_right_before_the_step_fails_it(world):
    operation = world.start(world.plan("cluster.create", None, name="fresh", broker_count=3))
    change("host-2", "cordoned")
    drive(operation)
    assert operation.state == "failed"
    assert operation.error["code"] == "place-gone"
    assert operation.error["detail"].endswith("does not take it any more. It is cordoned.")
    assert not world.hosts.desired
    assert not Broker.objects.exists()


def test_what_moves_where_is_said_of_a_host_that_is_drained(world):
    place(world, "host-1", 1)
    place(world, "host-2", 2, rack="rack-2")
    known(world, "host-3", alive=False)
    plan = host_plan("host-1", "drain")
    (row,) = plan["brokers"]
    assert (row["cluster"], row["broker_id"], row["target_host_id"]) == ("main", 1, "host-2")
    assert "1 broker of the cluster" in row["reason"]
    assert [each["code"] for each in plan["warnings"]] == ["moved-one-by-one"]
    change("host-2", "cordoned")
    (row,) = host_plan("host-1", "drain")["brokers"]
    assert row["target_host_id"] is None
    assert row["why_nowhere"] == "host-2: It is cordoned. host-3: Its agent is away."
    assert [(part["code"], part["params"]) for part in row["why_nowhere_parts"]] == [
        ("lead/host", {"host": "host-2"}), ("cordoned", {}),
        ("lead/host", {"host": "host-3"}), ("away", {}),
    ]  # fmt: skip
    assert (row["reason"], row["reason_code"], row["reason_params"]) == (None, None, {})


@pytest.mark.parametrize("act", sorted(ACTS))
def test_a_plan_says_by_codes_and_parameters_what_it_says_in_english(world, act):
    place(world, "host-1", 1)
    world.start(world.plan("cluster.restart", canary_s=0))
    known(world, "host-1", alive=act == "remove")
    change("host-1", "draining")
    plan = host_plan("host-1", act)
    said = rendered(SUMMARIES[plan["summary_code"]], plan["summary_params"])
    assert (plan["summary_code"], plan["summary"]) == (act, said)
    codes = {"drain": ["host-state/already"], "declare-lost": ["operation-under-way"],
             "remove": ["host-in-use", "host-alive/remove"]}  # fmt: skip
    assert [row["text_code"] for row in plan["refused"]] == codes.get(act, [])
    for row in plan["refused"]:
        assert row["text"] == rendered(REFUSALS[row["text_code"]], row["params"])
        assert row["code"] == row["text_code"].partition("/")[0]
    for row in plan["brokers"]:
        assert row["reason"] == rendered(PLACED[row["reason_code"]], row["reason_params"])


def test_brokers_beyond_the_first_five_are_counted(world):
    for number in range(1, 8):
        place(world, "host-1", number)
    (row, _alive) = host_plan("host-1", "remove")["refused"]
    assert row["text"] == (
        "Brokers belong on it: main/1, main/2, main/3, main/4, main/5 and 2 more."
    )
    with pytest.raises(Conflict, match="main/5 and 2 more"):
        hosts.host_remove(host_id="host-1", actor=ACTOR)


def test_why_a_host_takes_none_is_said_by_a_code(world):
    known(world, "host-1", capacity=Capacity(disk_total_bytes=2**40, disk_free_bytes=2**29))
    row = selectors.host_detail("host-1")
    assert (row["takes_none_because_code"], row["takes_none_because_params"]["free_gib"]) == (
        "no-disk", 0.5,
    )  # fmt: skip
    row = selectors.host_detail("host-2")
    assert (row["takes_none_because"], row["takes_none_because_code"]) == (None, None)


def test_a_preview_says_why_there_and_why_not(world):
    change("host-3", "cordoned")
    found = selectors.placement_preview(2)
    assert [row["host_id"] for row in found["placed"]] == ["host-1", "host-2"]
    said = {"code": "cordoned", "text": "It is cordoned.", "text_code": "cordoned", "params": {}}
    assert found["refused"] == [{"host_id": "host-3", **said}]
    assert (found["placed"][1]["reason_code"], found["placed"][1]["reason_params"]["on_rack"]) == (
        "placed", 0,
    )  # fmt: skip
    for host in ("host-1", "host-2"):
        known(world, host, alive=False)
    found = selectors.placement_preview(2)
    assert (found["fits"], found["wanted"], found["placed"]) == (0, 2, [])
    assert len(found["refused"]) == 3


# -- declared lost ------------------------------------------------------------------------------
@pytest.fixture
def lost(world):
    """A cluster of three, whose broker on host-2 was declared lost with it."""
    made = world.run("cluster.create", None, name="demo", broker_count=3)
    row = Broker.objects.get(cluster_id=made.cluster_id, host_id="host-2")
    path = row.cluster.zookeeper_path
    world.hosts.directories[path, row.broker_id] = ["dir-2"]
    known(world, "host-2", alive=False)
    declare_lost("host-2")
    return row


def test_a_host_that_lives_is_not_lost(world):
    with pytest.raises(Conflict) as refused:
        declare_lost("host-2")
    assert refused.value.code == "host-alive"


def test_the_name_has_to_be_typed_and_the_plan_to_hold(world):
    known(world, "host-2", alive=False)
    plan = host_plan("host-2", "declare-lost")
    said = {"host_id": "host-2", "actor": ACTOR}
    with pytest.raises(Invalid):
        hosts.host_declare_lost(plan_hash=plan["plan_hash"], confirm="host-1", **said)
    place(world, "host-2", 9)
    with pytest.raises(Conflict) as refused:
        hosts.host_declare_lost(plan_hash=plan["plan_hash"], confirm="host-2", **said)
    assert refused.value.code == "plan-stale"
    assert not HostState.objects.exists()


def test_its_brokers_stop_counting_and_their_data_is_fenced(world, lost):
    cluster = lost.cluster
    assert not Broker.objects.filter(host_id="host-2").exists()
    (row,) = LostBroker.objects.all()
    assert (row.broker_id, row.host_id, row.directory_ids) == (lost.broker_id, "host-2", ["dir-2"])
    assert row.fenced_at is not None
    assert world.hosts.fenced == {cluster.zookeeper_path: {"dir-2"}}
    spec = world.hosts.desired["host-2", lost.key]
    assert (spec["state"], spec["generation"]) == ("deleted", 2)
    assert open_for_host("host-2", spec["secret"]) == {}
    assert {lost.client_port, lost.internal_port} <= ports_taken()["host-2"]
    shown = selectors.host_detail("host-2")
    assert (shown["state"], shown["brokers"]) == ("lost", 0)
    assert [each["cluster"] for each in shown["lost_brokers"]] == ["demo"]
    event = AuditEvent.objects.get(action="host.declare_lost")
    assert (event.reason, event.data["brokers"]) == (
        "fire", [{"cluster_id": cluster.id, "id": lost.broker_id}],
    )  # fmt: skip


def test_its_cluster_says_which_broker_is_lost(world, lost):
    client = client_for(world.tenant)
    shown = client.get(f"/api/v1/clusters/{lost.cluster_id}").json()
    (row,) = [row for row in shown["brokers"] if row["id"] == lost.broker_id]
    listed = {each["id"]: each for each in client.get("/api/v1/clusters").json()["data"]}
    found = [each for each in listed[lost.cluster_id]["brokers"] if each["id"] == lost.broker_id]
    assert [each["observed_state"] for each in found] == ["lost"], "in lists, too"
    assert (row["observed_state"], row["alive"], shown["phase"]) == ("lost", False, "DEGRADED")
    assert row["message"] == f"The host of broker {lost.broker_id} was declared lost."


@pytest.mark.parametrize(
    ("kind", "inputs"), [("broker.restart", {}), ("cluster.restart", {"canary_s": 0})]
)
def test_a_restart_beside_a_lost_broker_leaves_what_follows_from_their_number(
    world, lost, kind, inputs
):
    """Topics that are made meanwhile have three replicas as before."""
    left = Broker.objects.filter(cluster_id=lost.cluster_id).first()
    inputs = inputs or {"broker": left.broker_id}
    before = world.hosts.desired[left.host_id, left.key]
    drive(world.start(world.plan(kind, lost.cluster_id, **inputs)), ticks=12)
    after = world.hosts.desired[left.host_id, left.key]
    assert after["generation"] > before["generation"]
    assert after["config"] == before["config"]
    assert after["config"]["default.replication.factor"] == "3"


def test_a_deletion_passes_by_a_lost_host(world, lost):
    ended = world.run("cluster.delete", lost.cluster_id)
    assert (ended.state, step(ended, "removed").detail) == (
        "succeeded", "processes and data are gone",
    )  # fmt: skip
    assert list(world.hosts.desired) == [("host-2", lost.key)]
    assert not LostBroker.objects.exists()


def test_a_lost_host_that_is_back_wipes_before_it_is_taken_back(world, lost):
    with pytest.raises(Conflict, match="cannot be active"):
        change("host-2", "active")
    with pytest.raises(Conflict) as refused:
        change("host-2", "cordoned")
    assert refused.value.code == "host-away"
    known(world, "host-2", alive=True)
    world.hosts.reports["host-2", lost.key] = Observed(state="running", generation=1)
    assert owed.settle() == []
    with pytest.raises(Conflict) as refused:
        change("host-2", "cordoned")
    assert refused.value.code == "deletion-owed"
    assert used_by(world.plan("cluster.create", None, name="fresh", broker_count=1)) != {"host-2"}
    del world.hosts.reports["host-2", lost.key]  # it does what is desired of it
    assert owed.settle() == [lost.key]
    change("host-2", "cordoned")
    change("host-2", "active")
    assert "host-2" in used_by(world.plan("cluster.create", None, name="fresh", broker_count=3))


def test_a_lost_host_is_forgotten_and_told_once_more_when_it_joins_again(world, lost):
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert not HostState.objects.exists()
    assert "host-2" not in hosts_with_key()
    assert ("host-2", lost.key) not in world.hosts.desired
    assert OwedDeletion.objects.filter(host_id="host-2").count() == 1


def test_what_zookeeper_was_not_told_is_said_by_the_next_round(world, monkeypatch):
    """A web process that is killed right after the decision, or a ZooKeeper that is away."""
    made = world.run("cluster.create", None, name="demo", broker_count=3)
    known(world, "host-2", alive=False)
    plan = host_plan("host-2", "declare-lost")
    monkeypatch.setattr(hosts, "fence", lambda _host_id: None)
    hosts.host_declare_lost(
        host_id="host-2", plan_hash=plan["plan_hash"], confirm="host-2", actor=ACTOR
    )
    (key,) = [key for key in world.hosts.desired if key[0] == "host-2"]
    assert world.hosts.desired[key]["state"] == "running"
    assert selectors.host_detail("host-2")["lost_brokers"][0]["fenced_at"] is None
    assert losing.fence() == [key[1]]
    assert world.hosts.desired[key]["state"] == "deleted"
    assert losing.fence() == []
    assert LostBroker.objects.get().cluster_id == made.cluster_id


def test_a_cluster_that_is_being_made_keeps_its_host(world):
    operation = world.start(world.plan("cluster.create", None, name="demo", broker_count=3))
    known(world, "host-2", alive=False)
    with pytest.raises(Conflict) as refused:
        declare_lost("host-2")
    assert (refused.value.code, operation.kind) == ("operation-under-way", "cluster.create")


def test_what_is_lost_for_good_is_said_or_unknown(world):
    place(world, "host-2", 1)
    known(world, "host-2", alive=False)
    said = [row["code"] for row in host_plan("host-2", "declare-lost")["warnings"]]
    assert said == ["loss-unknown"]


# -- let go -------------------------------------------------------------------------------------
def test_a_host_is_let_go_when_nothing_is_on_it_and_its_agent_is_stopped(world):
    place(world, "host-1")
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-1", actor=ACTOR)
    assert (refused.value.code, refused.value.extra["brokers"][0]["cluster"]) == (
        "host-in-use", "main",
    )  # fmt: skip
    with pytest.raises(Conflict) as refused:
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert refused.value.code == "host-alive"
    known(world, "host-2", alive=False)
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert [host.host_id for host in world.hosts.known] == ["host-1", "host-3"]
    # Its key goes with it: another host of that name gets one that the old one does not have.
    assert hosts_with_key() == {"host-1", "host-3"}
    with pytest.raises(NotFound):
        hosts.host_remove(host_id="host-2", actor=ACTOR)
    world.hosts.is_away = True
    with pytest.raises(Unavailable):
        hosts.host_remove(host_id="host-3", actor=ACTOR)


def test_a_removal_that_was_killed_is_finished_by_the_next(world, monkeypatch):
    change("host-2", "cordoned")
    known(world, "host-2", alive=False)
    monkeypatch.setattr(hosts, "forget_rows", lambda *_: None)  # killed before
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    monkeypatch.undo()
    assert HostState.objects.filter(pk="host-2").exists()
    hosts.host_remove(host_id="host-2", actor=ACTOR)
    assert not HostState.objects.filter(pk="host-2").exists()
    assert "host-2" not in hosts_with_key()
    with pytest.raises(NotFound):
        hosts.host_remove(host_id="host-2", actor=ACTOR)


# -- what is shown, and to whom -----------------------------------------------------------------
def test_what_runs_on_a_host_is_shown_with_its_age_or_as_unknown(world):
    broker = place(world, "host-1")
    world.hosts.reports[("host-1", broker.key)] = Observed(state="running", reported_at_ms=5_000)
    row = selectors.host_detail("host-1")
    assert row["broker_list"] == [
        {
            "broker_id": 1, "cluster": "main", "cluster_id": world.cluster.id, "tenant": "acme",
            "address": "127.0.0.1", "zookeeper": "127.0.0.1:2181", "runs_zookeeper": None,
            "observed_state": "running", "observed_at": "1970-01-01T00:00:05Z",
        }
    ]  # fmt: skip
    world.hosts.reports.clear()
    row = selectors.host_detail("host-1")
    assert row["broker_list"][0]["observed_state"] is None


def test_capacity_is_shown_with_its_age_or_as_unknown(world):
    shown = selectors.host_detail("host-1")["capacity"]
    assert (shown["disk_free_bytes"], shown["ports_free"], shown["age_s"]) == (None, None, None)
    assert shown["problem"] == "Its agent has reported no capacity."
    old = Capacity(disk_free_bytes=5, ports_busy=(20_100,), reported_at_ms=1_000)
    known(world, "host-1", capacity=old)
    row = selectors.host_detail("host-1")
    assert (row["capacity"]["ports_free"], row["capacity"]["is_stale"]) == (99, True)
    assert row["takes_brokers"] is False
    assert row["takes_none_because"].startswith("Its last report of capacity is about ")


def test_a_tenant_neither_lists_nor_chooses_hosts(world):
    client = client_for(world.tenant)
    for address in (
        "/api/v1/hosts", "/api/v1/operator/hosts", "/api/v1/operator/hosts/host-1",
        "/api/v1/operator/hosts/host-1/events", "/api/v1/operator/hosts/host-1/plans/drain",
        "/api/v1/operator/placement",
    ):  # fmt: skip
        assert client.get(address).status_code == 404, address
    answer = client.post(
        "/api/v1/operator/hosts/host-1/loss", {"plan_hash": "x", "confirm": "host-1"}
    )
    assert answer.status_code == 404
    body = {"name": "fresh", "broker_count": 3, "host_ids": ["host-1"]}
    answer = client.post("/api/v1/clusters", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/host_ids")
    del body["host_ids"]
    answer = client.post("/api/v1/clusters", {**body, "broker_count": 2}, format="json")
    assert answer.status_code == 201
    assert "host-" not in answer.content.decode(), "a plan names no host"
    assert "hosts" not in client.get("/console/api/pages/overview").json()["parts"]


def test_an_operator_does_all_of_it_by_rest(world):
    client = operator_client(world.tenant)
    address = "/api/v1/operator/hosts/host-2"
    assert client.put(address, {"state": "cordoned"}, format="json").json()["state"] == "cordoned"
    answer = client.put(address, {"state": "lost"}, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/state")
    known(world, "host-2", alive=False)
    plan = client.get(f"{address}/plans/declare-lost").json()
    assert (plan["confirm_phrase"], plan["refused"]) == ("host-2", [])
    body = {"plan_hash": plan["plan_hash"], "confirm": "host-2"}
    answer = client.post(f"{address}/loss", body, format="json")
    assert (answer.status_code, answer.json()["state"]) == (200, "lost")
    answer = client.post(f"{address}/loss", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "host-state")
    events = client.get(f"{address}/events").json()["data"]
    assert [row["action"] for row in events] == ["host.declare_lost", "host.cordon"]
    assert client.get(f"{address}/plans/explode").status_code == 404
    for wrong in ("0", "31", "x", "-1", "1e3", "٣"):
        answer = client.get("/api/v1/operator/placement", {"brokers": wrong})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/brokers")
    assert client.delete(address).status_code == 204
    assert User.objects.filter(is_staff=True).exists()
