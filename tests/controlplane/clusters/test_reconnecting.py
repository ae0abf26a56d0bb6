"""cluster.change_zookeeper: brokers go over to the connect string of their hosts' agents."""

import json
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from controlplane.clusters import services
from controlplane.clusters.connect_rules import Agent, CannotMoveError, Use, move_of, objection
from controlplane.clusters.described import parse_host
from controlplane.clusters.fake_hosts import ENSEMBLE
from controlplane.clusters.models import REGISTERED, Broker, Cluster, own_connect_string
from controlplane.clusters.replacing_places import move_row
from controlplane.clusters.reports import Observed, parse_observed
from controlplane.common.problems import Conflict, Unavailable
from controlplane.operations import engine
from controlplane.operations.services import operation_cancel
from tests.controlplane.clusters.test_rolling import states, until
from tests.controlplane.kind_plans import add_broker, moved_ensemble, told
from tests.controlplane.support import ACTOR, client_for, drive

KIND = "cluster.change_zookeeper"
NEW, OTHER = "zk-4:2181,zk-5:2181,zk-6:2181", "1d6b1c9a-6a55-4f0e-9a53-3d6c3c0e7a01@7"


# -- the rule
def uses(*strings):
    return [
        Use(broker=number, host_id=f"h{number}", connect=connect)
        for number, connect in enumerate(strings, 1)
    ]


def agents(*strings, **changed):
    found = {
        f"h{number}": Agent(connect=connect, ensemble="e@1", is_alive=True)
        for number, connect in enumerate(strings, 1)
    }
    return {**found, **changed}


def test_all_brokers_go_to_the_string_of_their_agents():
    move = move_of(uses("a", "a", "b"), agents("b", "b", "b"), "e@1")
    assert (move.connect, move.ensemble, move.moving) == ("b", "e@1", (1, 2))


@pytest.mark.parametrize(
    ("wrong", "tree", "code"),
    [
        ({"h2": Agent(connect="b", ensemble="e@1", is_alive=False)}, "e@1", "agents-away"),
        ({"h2": Agent(connect="", ensemble="e@1", is_alive=True)}, "e@1", "agents-unknown"),
        ({"h2": Agent(connect="b", ensemble="", is_alive=True)}, "e@1", "agents-unknown"),
        ({"h2": Agent(connect="b", ensemble="f@1", is_alive=True)}, "e@1", "ensemble-differs"),
        ({"h2": Agent(connect="a", ensemble="e@1", is_alive=True)}, "e@1", "agents-disagree"),
        ({}, "", "ensemble-unknown"),
        ({}, "f@1", "ensemble-differs"),
    ],
)
def test_unless_every_agent_proves_the_new_string(wrong, tree, code):
    found = agents("b", "b", "b", **wrong)
    with pytest.raises(CannotMoveError) as caught:
        move_of(uses("a", "a", "a"), found, tree)
    assert caught.value.code == code
    assert "h2" not in caught.value.text, "tenants read it"
    if wrong:
        move = move_of(uses("a", "a", "a"), agents("b", "b", "b"), "e@1")
        assert objection(2, found["h2"], move), "nor right before the broker"


def test_nothing_is_to_be_done_where_all_have_it():
    with pytest.raises(CannotMoveError) as caught:
        move_of(uses("b", "b"), agents("b", "b"), "e@1")
    assert caught.value.code == "nothing-to-do"


# -- what agents say
def host_of(**said):
    row = {"host_id": "h", "address": "a", "port_range": [1, 9], **said}
    return parse_host("h", json.dumps(row).encode(), alive=True, brokers=())


def test_what_an_agent_says_is_taken_as_far_as_it_can_be_meant():
    found = host_of(zookeeper={"connect": "a:1,b:2/root", "ensemble": ENSEMBLE})
    assert (found.zookeeper, found.ensemble) == ("a:1,b:2/root", ENSEMBLE)
    for wrong in (
        None,
        "a:1",
        {"connect": 7, "ensemble": {}},
        {"connect": "a:1\nsuper.users=User:me", "ensemble": "<b>"},
        {"connect": "a" * 1_001, "ensemble": "e" * 100},
    ):
        found = host_of(zookeeper=wrong)
        assert (found.zookeeper, found.ensemble) == ("", "")
    assert parse_observed(b'{"zookeeper": {"a": 1}}').zookeeper == ""


# -- the operation
@pytest.fixture
def brokers(world):
    """Brokers 1 to 3 on hosts 1 to 3, told to run; all agents use another connect string now."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    told(world)
    moved_ensemble(world, NEW)
    return world


def given(world):
    """What the hosts were told last, by broker."""
    return {
        spec["broker_id"]: spec["config"]["zookeeper.connect"].partition("/")[0]
        for spec in world.hosts.desired.values()
    }


def one_done(found):
    return list(found.values()).count("done") == 1


def run(world):
    return drive(world.start(world.plan(KIND, canary_s=0)))


def test_the_plan_says_which_brokers_and_proves_the_tree(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    assert sorted(row["id"] for row in plan.diff["brokers"]) == [1, 2, 3]
    assert (plan.diff["ensemble"], plan.diff["strings_before"]) == (ENSEMBLE, 1)
    assert "both-strings" in [each["code"] for each in plan.impact["warnings"]]


def test_no_tenant_reads_a_connect_string_or_a_host(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    owner = client_for(brokers.tenant)
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    pages = [
        owner.get(f"/api/v1/plans/{plan.id}"),
        owner.get(f"/api/v1/operations/{operation.id}"),
        owner.get(f"/api/v1/operations/{operation.id}/events"),
        owner.get(f"/api/v1/clusters/{brokers.cluster.id}"),
        owner.get(f"/api/v1/clusters/{brokers.cluster.id}/brokers"),
    ]
    for page in pages:
        text = page.content.decode()
        assert page.status_code in (200, 404)
        for hidden in ("zk-4", own_connect_string(), "host-1"):
            assert hidden not in text, page.request["PATH_INFO"]
    assert [page.status_code for page in pages[:2]] == [200, 200]


def test_they_go_over_one_by_one_the_controller_last(brokers):
    before = {key: spec["generation"] for key, spec in brokers.hosts.desired.items()}
    operation = run(brokers)
    assert operation.state == "succeeded", operation.error
    assert given(brokers) == {1: NEW, 2: NEW, 3: NEW}
    assert {row.zookeeper for row in Broker.objects.all()} == {NEW}
    chroots = {spec["config"]["zookeeper.connect"] for spec in brokers.hosts.desired.values()}
    assert chroots == {f"{NEW}{brokers.cluster.zookeeper_path}"}, "the tree stays one"
    assert [row["id"] for row in operation.plan.diff["brokers"]][-1] == 1, "the controller last"
    after = {key: spec["generation"] for key, spec in brokers.hosts.desired.items()}
    assert after == {key: generation + 1 for key, generation in before.items()}
    assert states(operation) == {1: "done", 2: "done", 3: "done"}


def test_a_broker_keeps_its_string_until_then_whatever_the_service_uses(brokers, settings):
    """A restart, a renewed certificate or a login is no move: nobody has proven anything."""
    before = own_connect_string()
    settings.ZOOKEEPER = "typo:2181"
    services.write_desired(Cluster.objects.get(), state="running")
    assert set(given(brokers).values()) == {before}
    assert brokers.run("cluster.restart", canary_s=0).state == "succeeded"
    assert set(given(brokers).values()) == {before}


def test_one_that_begins_elsewhere_takes_the_services_string_along(brokers):
    """Not what the agent of another host said."""
    Broker.objects.filter(broker_id=2).update(zookeeper="evil:2181")
    row = Broker.objects.get(broker_id=2)
    to = {"host_id": "host-1", "address": "a", "rack": "", "client_port": 1, "internal_port": 2}
    move_row(row, to, row.generation + 1)
    assert Broker.objects.get(broker_id=2).zookeeper == own_connect_string()


def test_the_same_kind_leads_back_once_the_agents_have_the_old_string_again(brokers):
    assert run(brokers).state == "succeeded"
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "nothing-to-do"
    moved_ensemble(brokers, own_connect_string())
    assert run(brokers).state == "succeeded"
    assert set(given(brokers).values()) == {own_connect_string()}


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"alive": False}, "agents-away"),
        ({"zookeeper": ""}, "agents-unknown"),
        ({"ensemble": ""}, "agents-unknown"),
        ({"ensemble": OTHER}, "ensemble-differs"),
        ({"zookeeper": "127.0.0.1:2181"}, "agents-disagree"),
    ],
)
def test_it_is_refused_while_one_agent_is_not_there_yet(brokers, changed, code):
    one, *rest = brokers.hosts.known
    brokers.hosts.known = [replace(one, **changed), *rest]
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == code
    assert "host-1" not in caught.value.detail


def test_it_is_refused_without_an_identity_and_without_zookeeper(brokers):
    brokers.hosts.tree = ""
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "ensemble-unknown"
    brokers.hosts.is_away = True
    with pytest.raises(Unavailable):
        brokers.plan(KIND, canary_s=0)


def test_not_of_others(brokers):
    Cluster.objects.update(kind=REGISTERED)
    with pytest.raises(Conflict) as caught:
        brokers.plan(KIND, canary_s=0)
    assert caught.value.code == "cluster-not-managed"


def test_a_string_that_changed_since_the_plan_is_not_followed(brokers):
    plan = brokers.plan(KIND, canary_s=0)
    moved_ensemble(brokers, "zk-7:2181")
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"
    assert "zk-7" not in caught.value.detail


@pytest.mark.parametrize("how", ["away", "another string", "another tree", "the service's"])
def test_it_is_proven_once_more_before_each_broker(brokers, how):
    operation = until(brokers.start(brokers.plan(KIND, canary_s=0)), one_done)
    if how == "the service's":
        brokers.hosts.tree = OTHER
    else:
        changed = {
            "away": {"alive": False},
            "another string": {"zookeeper": "zk-7:2181"},
            "another tree": {"ensemble": OTHER},
        }[how]
        brokers.hosts.known = [replace(host, **changed) for host in brokers.hosts.known]
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "ensemble-not-proven")
    assert sorted(given(brokers).values()) == sorted([NEW, *[own_connect_string()] * 2])
    assert list(states(operation).values()).count("left") == 2


def test_one_that_does_not_start_with_it_gets_its_string_of_before(brokers):
    """The name does not resolve on that host, or a firewall is in the way."""
    operation = brokers.start(brokers.plan(KIND, canary_s=0))
    failed = Observed(state="failed", message="no ZooKeeper server answered")

    def follow(key, spec):
        if NEW in spec["config"]["zookeeper.connect"]:
            brokers.hosts.reports[key] = replace(failed, generation=spec["generation"])
        else:
            brokers.hosts.reports.pop(key, None)

    brokers.hosts.followers.append(follow)
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "broker-does-not-start")
    assert set(given(brokers).values()) == {own_connect_string()}
    assert {row.zookeeper for row in Broker.objects.all()} == {own_connect_string()}
    assert "1 broker put back to the connect string of before." in str(operation.remains)


def test_verified_is_what_processes_were_started_with(brokers):
    """An agent that does not say it, or says another one, verifies nothing."""
    key = ("host-2", f"{brokers.cluster.id}-2")
    operation = until(
        brokers.start(brokers.plan(KIND, canary_s=0)),
        lambda found: list(found.values()).count("done") == 3,
    )
    honest = brokers.hosts.report(key[0], brokers.hosts.desired[key])
    for said, text in (("", "not known"), ("zk-1:2181/x", "another connect string")):
        brokers.hosts.reports[key] = replace(honest, zookeeper=said)
        for _ in range(4):
            engine.tick(operation.id)
        operation.refresh_from_db()
        assert operation.state == "verifying"
        assert text in str(list(operation.steps.values("detail")))
    del brokers.hosts.reports[key]
    assert drive(operation).state == "succeeded"


def test_cancelled_it_takes_no_other_one(brokers):
    operation = until(brokers.start(brokers.plan(KIND, canary_s=0)), one_done)
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    assert drive(operation).state == "cancelled"
    assert list(given(brokers).values()).count(NEW) == 1


def test_a_worker_that_is_killed_at_any_tick_restarts_none_twice(brokers):
    """Whoever goes on has the same generation: the one that follows from the plan."""
    operation = brokers.start(brokers.plan(KIND, canary_s=0))
    before = {row.broker_id: row.generation for row in Broker.objects.all()}
    for _ in range(120):
        engine.tick(operation.id)
        operation.refresh_from_db()
        if operation.state == "succeeded":
            break
    assert operation.state == "succeeded", operation.error
    after = {row.broker_id: row.generation for row in Broker.objects.all()}
    assert after == {broker: generation + 1 for broker, generation in before.items()}


# -- where nothing can be rolled any more
def test_brokers_that_are_down_get_the_new_string_at_once_by_the_same_proof(brokers, capsys):
    brokers.gateway.brokers.clear()
    call_command("zookeeper", "reconnect", brokers.cluster.id)
    assert "3 brokers start again" in capsys.readouterr().out
    assert set(given(brokers).values()) == {NEW}
    assert {row.zookeeper for row in Broker.objects.all()} == {NEW}
    before = dict(brokers.hosts.desired)
    brokers.hosts.desired.clear()
    call_command("zookeeper", "reconnect", brokers.cluster.id)
    after = {key: spec["generation"] for key, spec in brokers.hosts.desired.items()}
    assert after == {key: spec["generation"] for key, spec in before.items()}, "killed in between"


def test_at_once_neither_unproven_nor_beside_an_operation(brokers):
    brokers.hosts.known = [replace(host, ensemble=OTHER) for host in brokers.hosts.known]
    with pytest.raises(CommandError, match="another ensemble"):
        call_command("zookeeper", "reconnect", brokers.cluster.id)
    brokers.start(brokers.plan("cluster.restart", canary_s=0))
    with pytest.raises(CommandError, match="under way"):
        call_command("zookeeper", "reconnect", brokers.cluster.id)
    assert set(given(brokers).values()) == {own_connect_string()}
