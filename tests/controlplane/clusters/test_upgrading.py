"""cluster.upgrade and cluster.finalize_version: another release, broker by broker, and back."""

from dataclasses import replace

import pytest

from controlplane.clusters.models import REGISTERED, Broker, Cluster
from controlplane.clusters.versions import NOT_KNOWN, PROTOCOL_KEY, Installed
from controlplane.common.problems import Conflict, Problem, Unavailable
from controlplane.operations import engine
from controlplane.operations.services import operation_cancel
from tests.controlplane.clusters.rolled import states, until
from tests.controlplane.kind_plans import add_broker, of_version
from tests.controlplane.support import ACTOR, drive

UPGRADE, FINALIZE = "cluster.upgrade", "cluster.finalize_version"
OLD, NEW = "0.0.9", "0.2.0"


@pytest.fixture
def brokers(world):
    """Three brokers of the older release, which speak what it knows."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    of_version(world, version=OLD, protocol="3.8-IV0")
    return world


def run(world, kind=UPGRADE, **inputs):
    return drive(world.start(world.plan(kind, canary_s=0, **inputs)))


def told(world):
    """What each broker's host was told last: (version, protocol)."""
    return {
        spec["broker_id"]: (spec["version"], spec["config"].get(PROTOCOL_KEY))
        for spec in world.hosts.desired.values()
    }


def cluster():
    return Cluster.objects.get()


def refusal(world, kind=UPGRADE, **inputs):
    with pytest.raises(Problem) as caught:
        world.plan(kind, canary_s=0, **inputs)
    return caught.value


def code_of(problem):
    errors = problem.as_dict().get("errors")
    return errors[0]["code"] if errors else problem.code


# -- the plan
def test_the_plan_says_what_changes_and_what_does_not(brokers):
    plan = brokers.plan(UPGRADE, version=NEW, canary_s=0)
    assert plan.diff["version"] == {
        "before": OLD,
        "after": NEW,
        "software": NEW,
        "digest": "c" * 64,
    }
    protocol = plan.diff["protocol"]
    assert (protocol["now"], protocol["after"], protocol["newest"]) == (
        "3.8-IV0",
        "3.8-IV0",
        "3.9-IV0",
    )
    assert [text.partition(":")[0] for text in protocol["changes"]] == ["3.9-IV0"]
    assert plan.diff["way_back"]["is_open"]
    assert "cluster.finalize_version" in plan.diff["way_back"]["text"]
    assert [
        (row["id"], row["from_version"], row["to_version"]) for row in plan.diff["brokers"]
    ] == [(2, OLD, NEW), (3, OLD, NEW), (1, OLD, NEW)]


def test_hosts_that_lack_it_are_named_and_nothing_begins(brokers):
    known = brokers.hosts.releases["host-2"]
    brokers.hosts.releases["host-2"] = replace(known, releases=known.releases[:2])
    found = refusal(brokers, version=NEW)
    (error,) = found.as_dict()["errors"]
    assert (error["pointer"], error["code"]) == ("/inputs/version", "version-missing")
    assert error["detail"] == f"Version {NEW}: Not on 1 of the 3 hosts of its brokers."


def test_a_host_that_says_nothing_is_not_taken_for_one_that_has_it(brokers):
    brokers.hosts.releases["host-3"] = NOT_KNOWN
    assert code_of(refusal(brokers, version=NEW)) == "versions-unknown"
    brokers.hosts.is_away = True
    with pytest.raises(Unavailable):
        brokers.plan(UPGRADE, version=NEW)


@pytest.mark.parametrize("name", ["", "../0.2.0", "a b", ".x", "x" * 64])
def test_what_cannot_be_a_name_is_refused_at_its_field(brokers, name):
    (error,) = refusal(brokers, version=name).as_dict()["errors"]
    assert error["pointer"] == "/inputs/version"


def test_what_all_run_already_is_nothing_to_do(brokers):
    assert refusal(brokers, version=OLD).code == "nothing-to-do"


def test_not_those_of_others(brokers):
    Cluster.objects.update(kind=REGISTERED)
    assert refusal(brokers, version=NEW).code == "cluster-not-managed"


def test_a_release_that_is_exchanged_on_the_hosts_makes_the_plan_stale(brokers):
    plan = brokers.plan(UPGRADE, version=NEW)
    for host, known in brokers.hosts.releases.items():
        changed = tuple(replace(each, digest="d" * 64) for each in known.releases)
        brokers.hosts.releases[host] = Installed(releases=changed)
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


# -- there and back
def test_all_run_the_new_one_and_go_on_speaking_the_old_protocol(brokers):
    operation = run(brokers, version=NEW)
    assert operation.state == "succeeded", operation.error
    assert told(brokers) == dict.fromkeys((1, 2, 3), (NEW, "3.8-IV0"))
    assert (cluster().version, cluster().protocol_version) == (NEW, "3.8-IV0")
    assert set(Broker.objects.values_list("version", flat=True)) == {""}
    assert states(operation) == {2: "done", 3: "done", 1: "done"}


def test_the_protocol_that_brokers_speak_is_written_down_before_the_first_is_moved(brokers):
    """Nobody ever set it: the new release would speak its newest at once."""
    Cluster.objects.update(protocol_version="")
    assert run(brokers, version=NEW).state == "succeeded"
    assert told(brokers) == dict.fromkeys((1, 2, 3), (NEW, "3.8-IV0"))


def test_brokers_that_do_not_say_what_they_speak_are_asked_by_kafkas_protocol(brokers):
    Cluster.objects.update(protocol_version="")
    for key, spec in brokers.hosts.desired.items():
        said = brokers.hosts.observed([key])[key]
        brokers.hosts.reports[key] = replace(said, protocol="", generation=spec["generation"])
    assert code_of(refusal(brokers, version=NEW)) == "protocol-unknown"
    for broker in (1, 2, 3):
        brokers.gateway.broker_files[broker] = {PROTOCOL_KEY: "3.8-IV0"}
    assert brokers.plan(UPGRADE, version=NEW).diff["protocol"]["now"] == "3.8-IV0"
    brokers.gateway.broker_files[2] = {PROTOCOL_KEY: "3.7-IV4"}
    assert code_of(refusal(brokers, version=NEW)) == "protocol-unknown"


def test_the_undo_goes_back_while_the_protocol_is_the_old_one(brokers):
    operation = run(brokers, version=NEW)
    plan = operation.plan
    assert plan.kind == UPGRADE
    assert run(brokers, version=OLD).state == "succeeded"
    assert told(brokers) == dict.fromkeys((1, 2, 3), (OLD, "3.8-IV0"))
    assert cluster().version == OLD


def test_after_the_protocol_was_raised_there_is_no_way_back(brokers):
    run(brokers, version=NEW)
    plan = brokers.plan(FINALIZE, canary_s=0)
    assert plan.diff["no_way_back_to"] == [OLD]
    assert plan.diff["protocol"]["after"] == "3.9-IV0"
    assert plan.impact["warnings"][0]["code"] == "no-way-back"
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert told(brokers) == dict.fromkeys((1, 2, 3), (NEW, "3.9-IV0"))
    found = refusal(brokers, version=OLD)
    assert code_of(found) == "version-too-old"
    assert "there is no way back to it" in str(found.detail)
    # One that knows the protocol may be gone to all the same.
    assert brokers.plan(UPGRADE, version="agent").diff["way_back"]["is_open"]
    assert refusal(brokers, FINALIZE).code == "nothing-to-do"


def test_the_protocol_is_not_raised_while_brokers_are_of_two_versions(brokers):
    Broker.objects.filter(broker_id=2).update(version=NEW)
    assert refusal(brokers, FINALIZE).code == "versions-mixed"


def test_nor_before_each_is_reported_to_run_it(brokers):
    run(brokers, version=NEW)
    (key,) = [key for key in brokers.hosts.desired if key[1].endswith("-2")]
    said = brokers.hosts.observed([key])[key]
    brokers.hosts.reports[key] = replace(said, version=OLD)
    assert refusal(brokers, FINALIZE).code == "versions-unverified"


# -- half-way
def test_cancelled_half_way_the_rest_stays_and_the_same_kind_takes_them_back(brokers):
    operation = until(
        brokers.start(brokers.plan(UPGRADE, version=NEW, canary_s=0)),
        lambda found: found.get(2) == "done",
    )
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    operation = drive(operation)
    assert operation.state == "cancelled"
    assert told(brokers)[2] == (NEW, "3.8-IV0")
    assert cluster().version == OLD
    plan = brokers.plan(UPGRADE, version=OLD, canary_s=0)
    assert [row["id"] for row in plan.diff["brokers"]] == [2]
    assert drive(brokers.start(plan)).state == "succeeded"
    assert told(brokers) == dict.fromkeys((1, 2, 3), (OLD, "3.8-IV0"))
    assert {spec["generation"] for spec in brokers.hosts.desired.values()} == {1, 3}


def test_a_broker_that_runs_something_else_is_not_called_verified(brokers):
    plan = brokers.plan(UPGRADE, version=NEW, canary_s=0)
    operation = until(brokers.start(plan), lambda found: set(found.values()) == {"done"})
    (key,) = [key for key in brokers.hosts.desired if key[1].endswith("-3")]
    said = brokers.hosts.observed([key])[key]
    brokers.hosts.reports[key] = replace(said, software="0.0.9")
    step = operation.steps.get(name="verify")
    for _ in range(6):
        engine.tick(operation.id)
    step.refresh_from_db()
    assert step.state != "done"
    assert "says that it is 0.0.9" in step.detail
    del brokers.hosts.reports[key]
    assert drive(operation).state == "succeeded"
