"""cluster.configure: each key by the way that it allows, and back by the same."""

import pytest

from controlplane.clusters.models import REGISTERED, Broker, Cluster, LostBroker
from controlplane.common.kafka_configs import allowed_broker_values, is_dynamic
from controlplane.common.problems import Conflict, Invalid
from controlplane.gateway.errors import GatewayError
from controlplane.operations.services import operation_cancel, undo_plan_create
from tests.controlplane.clusters.rolled import until
from tests.controlplane.kind_plans import add_broker
from tests.controlplane.support import ACTOR, client_for, drive

KIND = "cluster.configure"
DYNAMIC, STATIC = "log.retention.ms", "auto.leader.rebalance.enable"


@pytest.fixture
def brokers(world, monkeypatch):
    """Brokers 1 to 3, which go by their files as soon as their hosts are told of them."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    write = world.hosts.write_desired

    def started(key, spec):
        write(key, spec)
        world.gateway.broker_files[spec["broker_id"]] = dict(spec["config"])

    monkeypatch.setattr(world.hosts, "write_desired", started)
    return world


def planned(world, config, **more):
    return world.plan(KIND, config=config, canary_s=0, **more)


def config_now(world):
    return Cluster.objects.get(pk=world.cluster.pk).config


def generations(world):
    return list(Broker.objects.filter(cluster=world.cluster).values_list("generation", flat=True))


def undone(world, operation):
    plan = undo_plan_create(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    return drive(world.start(plan))


def test_a_dynamic_key_is_set_for_all_while_they_run(brokers):
    plan = planned(brokers, {DYNAMIC: "3600000"})
    assert plan.diff["changes"] == [
        {"key": DYNAMIC, "way": "dynamic", "before": None, "after": "3600000", "now": None}
    ]
    assert plan.diff["brokers"] == []
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert brokers.gateway.broker_defaults == {DYNAMIC: "3600000"}
    assert generations(brokers) == [1, 1, 1]
    assert config_now(brokers) == {}
    assert undone(brokers, operation).state == "succeeded"
    assert brokers.gateway.broker_defaults == {}


def test_the_undo_puts_back_the_value_that_was_there(brokers):
    brokers.gateway.broker_defaults[DYNAMIC] = "1000"
    operation = drive(brokers.start(planned(brokers, {DYNAMIC: None})))
    assert brokers.gateway.broker_defaults == {}
    assert undone(brokers, operation).state == "succeeded"
    assert brokers.gateway.broker_defaults == {DYNAMIC: "1000"}


def test_a_static_key_is_written_and_the_brokers_are_restarted_in_turn(brokers):
    plan = planned(brokers, {STATIC: "false"})
    assert [row["way"] for row in plan.diff["changes"]] == ["static"]
    assert [row["id"] for row in plan.diff["brokers"]] == [2, 3, 1]
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert config_now(brokers) == {STATIC: "false"}
    assert generations(brokers) == [2, 2, 2]
    assert [brokers.gateway.broker_files[one][STATIC] for one in (1, 2, 3)] == ["false"] * 3
    back = undone(brokers, operation)
    assert back.state == "succeeded", back.error
    assert config_now(brokers) == {}
    assert generations(brokers) == [3, 3, 3]
    assert STATIC not in brokers.gateway.broker_files[1]


def test_both_ways_in_one_operation(brokers):
    operation = drive(brokers.start(planned(brokers, {DYNAMIC: "5000", STATIC: "false"})))
    assert operation.state == "succeeded", operation.error
    assert brokers.gateway.broker_defaults == {DYNAMIC: "5000"}
    assert config_now(brokers) == {STATIC: "false"}


def test_aborted_in_between_it_says_who_has_it_and_the_undo_leads_back(brokers):
    operation = until(
        brokers.start(planned(brokers, {STATIC: "false"})), lambda found: found.get(2) == "done"
    )
    operation_cancel(tenant=brokers.tenant, actor=ACTOR, operation_id=operation.id)
    drive(operation)
    assert operation.state == "cancelled"
    assert "Restarted: broker 2. Not restarted: brokers 1, 3." in operation.remains
    assert config_now(brokers) == {STATIC: "false"}
    assert undone(brokers, operation).state == "succeeded"
    assert config_now(brokers) == {}
    assert STATIC not in brokers.gateway.broker_files[2]
    operation.refresh_from_db()
    assert operation.remains == []


def test_a_registered_kafka_has_dynamic_keys_only(world):
    Cluster.objects.update(kind=REGISTERED)
    operation = drive(world.start(planned(world, {DYNAMIC: "3600000"})))
    assert operation.state == "succeeded", operation.error
    with pytest.raises(Invalid) as caught:
        planned(world, {DYNAMIC: "1", STATIC: "false"})
    (error,) = caught.value.as_dict()["errors"]
    assert (error["pointer"], error["code"]) == (f"/inputs/config/{STATIC}", "read-only")


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "size"),
        ({f"key.{number}": "1" for number in range(51)}, "size"),
        ({"listeners": "PLAINTEXT://:1"}, "not-allowed"),
        ({"num.io.threads": "8"}, "not-allowed"),
        ({"super.users": None}, "not-allowed"),
        ({"metric.reporters": "org.example.Evil"}, "unknown"),
        ({"log.retention.millis": "1"}, "unknown"),
        ({DYNAMIC: "soon"}, "invalid"),
    ],
)
@pytest.mark.parametrize("kind", ["managed", REGISTERED])
def test_what_is_refused_is_named_with_its_reason(brokers, kind, config, code):
    Cluster.objects.update(kind=kind)
    with pytest.raises(Invalid) as caught:
        planned(brokers, config)
    errors = caught.value.as_dict()["errors"]
    assert {error["code"] for error in errors} & {code, "not-allowed", "unknown"}
    assert all(error["pointer"].startswith("/inputs/config") for error in errors)
    assert brokers.gateway.broker_defaults == {}


def test_settings_that_no_broker_would_start_with_are_refused(brokers):
    brokers.gateway.broker_defaults.clear()
    with pytest.raises(Invalid) as caught:
        planned(
            brokers, {"group.min.session.timeout.ms": "60000", "group.max.session.timeout.ms": "10"}
        )
    assert caught.value.as_dict()["errors"]


def test_brokers_that_are_lost_count_as_in_the_files_of_the_others(brokers):
    """Of three that two are lost of the others keep three replicas by default, and not one."""
    for row in Broker.objects.filter(cluster=brokers.cluster, broker_id__in=(2, 3)):
        LostBroker.objects.create(
            cluster=row.cluster, broker_id=row.broker_id, host_id=row.host_id,
            address=row.address, client_port=row.client_port, declared_by="user:root",
        )  # fmt: skip
        row.delete()
        brokers.gateway.brokers.pop(row.broker_id)
    for config in ({"default.replication.factor": "3"}, {"min.insync.replicas": "2"}):
        codes = {row["code"] for row in planned(brokers, config).impact["warnings"]}
        assert not codes & {"too-few-brokers", "unwritable", "no-slack"}, config
    codes = {
        row["code"]
        for row in planned(brokers, {"default.replication.factor": "4"}).impact["warnings"]
    }
    assert "too-few-brokers" in codes


def test_nothing_to_do_is_said(brokers):
    brokers.gateway.broker_defaults[DYNAMIC] = "1000"
    with pytest.raises(Conflict) as caught:
        planned(brokers, {DYNAMIC: "1000"})
    assert caught.value.code == "nothing-to-do"


def test_a_setting_that_somebody_changed_meanwhile_makes_the_plan_stale(brokers):
    plan = planned(brokers, {DYNAMIC: "1000"})
    brokers.gateway.broker_defaults[DYNAMIC] = "2000"
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"
    plan = planned(brokers, {STATIC: "false"})
    Cluster.objects.update(config={STATIC: "true"})
    with pytest.raises(Conflict) as caught:
        brokers.start(plan)
    assert caught.value.code == "plan-stale"


def test_a_broker_with_a_setting_of_its_own_is_named_and_keeps_it(brokers):
    brokers.gateway.broker_overrides[2][DYNAMIC] = "7"
    plan = planned(brokers, {DYNAMIC: "1000"})
    assert "own-setting" in {row["code"] for row in plan.impact["warnings"]}
    operation = drive(brokers.start(plan))
    assert operation.state == "succeeded", operation.error
    assert brokers.gateway.broker_overrides[2] == {DYNAMIC: "7"}


def test_a_refusal_of_the_brokers_ends_it_and_changes_nothing(brokers):
    operation = brokers.start(planned(brokers, {DYNAMIC: "1000", STATIC: "false"}))
    brokers.gateway.fail_next("alter_default_broker_configs", GatewayError("INVALID_CONFIG"))
    drive(operation)
    assert operation.error["kafka_error"] == "INVALID_CONFIG"
    assert config_now(brokers) == {}
    assert generations(brokers) == [1, 1, 1]


def test_every_key_of_a_tenant_has_a_way():
    ways = {key: is_dynamic(key) for key in allowed_broker_values()}
    assert ways[DYNAMIC]
    assert not ways[STATIC]
    assert not is_dynamic("listeners")
    assert not is_dynamic("no.such.key")


def test_who_may_only_read_plans_no_change(brokers):
    body = {"kind": KIND, "cluster_id": brokers.cluster.id, "inputs": {"config": {DYNAMIC: "1"}}}
    answer = client_for(brokers.tenant, "viewer").post("/api/v1/plans", body, format="json")
    assert answer.status_code == 403
