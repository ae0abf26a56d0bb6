"""One broker's page: what it says, what it does not know, and to whom it says what."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console.pages.broker import OPERATIONS_SHOWN
from controlplane.clusters.models import REGISTERED, Broker
from controlplane.clusters.reports import End, Observed
from controlplane.gateway.types import ConfigEntry
from controlplane.observed.models import ObservedBroker, ObservedCluster
from controlplane.observed.placement import by_broker, on_broker, placed
from controlplane.operations.models import Operation, Plan
from controlplane.operations.states import SUCCEEDED
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, drive, observed, tenant_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(world):
    world.gateway.add_topic("orders", partitions=4, rf=2, records=50)
    Broker.objects.create(
        cluster=world.cluster, broker_id=2, host_id="host-1", address="127.0.0.1",
        client_port=9092, internal_port=9093, generation=3,
    )  # fmt: skip
    observed(world)
    return world


def page(world, broker=2, client=None, name="broker"):
    client = client or client_for(world.tenant)
    return client.get(f"/console/api/pages/{name}/{world.cluster.id}/{broker}")


def parts(world, **how):
    answer = page(world, **how)
    assert answer.status_code == 200, answer.content
    return answer.json()["parts"]


def reported(world, **fields):
    row = Broker.objects.get(broker_id=2)
    world.hosts.reports["host-1", row.key] = Observed(
        state="running", generation=3, pid=77, restarts=1, **fields
    )


def test_a_broker_says_its_load_its_disk_and_whether_it_is_the_controller(orders):
    row = parts(orders)["broker"]["data"]
    assert (row["id"], row["alive"], row["is_controller"]) == (2, True, False)
    assert (row["leaders"], row["replicas"]) == (1, 2)
    assert row["disk_usable_bytes"] < row["disk_total_bytes"]
    assert parts(orders, broker=1)["broker"]["data"]["is_controller"]


def test_what_it_leads_and_holds_is_by_topic(orders):
    found = parts(orders, name="placement")["partitions"]["data"]
    assert (found["leads"], found["follows"], found["topics"]) == (1, 1, 1)
    assert found["rows"][0]["topic"] == "orders"


def placement_statements(world):
    with CaptureQueriesContext(connection) as asked:
        found = parts(world, name="placement")["partitions"]["data"]
    of_topics = [one["sql"] for one in asked if '"observed_observedtopic"."detail"' in one["sql"]]
    return found, len(of_topics)


def test_what_it_holds_was_counted_by_the_pass_and_no_topic_is_looked_at(orders):
    assert placement_statements(orders)[1] == 0
    found, _ = placement_statements(orders)
    ObservedBroker.objects.update(detail={})
    assert placement_statements(orders) == (found, 1)


def test_a_topic_that_an_operation_has_deleted_since_is_not_counted(orders):
    orders.gateway.add_topic("kept", partitions=1, rf=4)
    observed(orders)
    assert parts(orders, name="placement")["partitions"]["data"]["topics"] == 2
    done = drive(orders.start(orders.plan("topic.delete", name="orders")))
    assert done.state == "succeeded", done.error
    found, looked = placement_statements(orders)
    assert ([row["topic"] for row in found["rows"]], looked) == (["kept"], 1)


def test_while_topics_or_brokers_are_not_read_what_is_known_of_topics_counts(orders):
    """What the pass before had counted may be of other topics than those that are shown."""
    cluster = ObservedCluster.objects.get()
    for name in ("brokers", "topics"):
        kept = cluster.sections[name]
        cluster.sections[name] = {**kept, "as_of": "2026-01-01T00:00:00Z"}
        cluster.save()
        assert placement_statements(orders)[1] == 1
        cluster.sections[name] = kept
    cluster.sections["topics"] |= {"missing": True, "reason": "1 of 2 was not read"}
    cluster.save()
    assert placement_statements(orders)[1] == 1


def test_what_is_out_of_sync_is_found_without_looking_at_all_topics(orders):
    assert parts(orders)["trouble"]["data"]["rows"] == []
    for held in orders.gateway.topics["orders"].partitions:
        held.out_of_sync = frozenset({2}) & set(held.replicas)
    observed(orders)
    trouble = parts(orders)["trouble"]["data"]
    assert trouble["out_of_sync"] == trouble["rows"][0]["out_of_sync"] > 0


def test_settings_have_their_source_and_no_secret(orders, monkeypatch):
    entries = [
        ConfigEntry(name="b", value="1", source="DYNAMIC_BROKER_CONFIG", is_default=False),
        ConfigEntry(name="a.password", value="hunter2", source="STATIC_BROKER_CONFIG",
                    is_default=False, sensitive=True),
    ]  # fmt: skip
    monkeypatch.setattr(orders.gateway, "broker_configs", lambda _ids, _keys=None: {2: entries})
    answer = page(orders)
    rows = answer.json()["parts"]["settings"]["data"]
    assert [(row["name"], row["value"], row["source"]) for row in rows] == [
        ("a.password", None, "STATIC_BROKER_CONFIG"),
        ("b", "1", "DYNAMIC_BROKER_CONFIG"),
    ]
    assert b"hunter2" not in answer.content


def test_restarts_have_their_reasons_the_newest_first(orders):
    ends = tuple(
        End(at_ms=at, exit_code=-9, message=f"killed {at}", log_tail=(f"line {at}",))
        for at in (1, 2)
    )
    reported(orders, ends=ends)
    process = parts(orders)["process"]["data"]
    assert [end["message"] for end in process["ends"]] == ["killed 2", "killed 1"]
    assert process["ends"][0]["log_tail"] == ["line 2"]
    assert process["log_hidden"] is None


def test_lines_of_a_log_are_for_who_may_change_the_cluster(orders):
    secret = "a client's name"
    reported(orders, ends=(End(at_ms=1, exit_code=1, message="m", log_tail=(secret,)),),
             log_tail=(secret,))  # fmt: skip
    answer = page(orders, client=client_for(orders.tenant, "viewer"))
    process = answer.json()["parts"]["process"]["data"]
    assert not answer.json()["parts"]["broker"]["data"]["may_change"]
    assert parts(orders)["broker"]["data"]["may_change"]
    assert process["log_tail"] is None
    assert process["ends"][0]["log_tail"] is None
    assert (
        process["log_hidden"] == "Lines of the log are shown to those who may change the cluster."
    )
    assert secret not in answer.content.decode()
    assert secret in page(orders).content.decode()


def test_a_report_of_another_generation_says_nothing(orders):
    row = Broker.objects.get(broker_id=2)
    orders.hosts.reports["host-1", row.key] = Observed(state="running", generation=2)
    assert "generation 2" in parts(orders)["process"]["reason"]


def test_who_sees_a_part_sees_no_disk_no_settings_and_no_process(orders):
    reported(orders)
    orders.gateway.add_topic("team-a-x", partitions=1, rf=4)
    observed(orders)
    found = parts(orders, client=member_of(orders.tenant))
    assert found["broker"]["data"]["disk_total_bytes"] is None
    assert found["broker"]["data"]["size_bytes"] is None
    assert found["broker"]["data"]["replicas"] == 1
    assert not found["broker"]["data"]["may_change"]
    for name in ("settings", "process"):
        assert found[name]["status"] == "unavailable"
        assert "with a role on the whole cluster" in found[name]["reason"]
    placed = parts(orders, client=member_of(orders.tenant), name="placement")["partitions"]["data"]
    assert [row["topic"] for row in placed["rows"]] == ["team-a-x"]


@pytest.mark.parametrize("broker", ["9", "x", "-1", "99999999999", "²"])
def test_a_broker_that_is_none_is_not_found(orders, broker):
    assert page(orders, broker=broker).status_code == 404


def test_a_broker_of_another_tenant_is_not_found(orders):
    assert page(orders, client=client_for(tenant_make("rival"))).status_code == 404


def test_a_broker_that_is_gone_is_there_while_partitions_name_it(orders):
    orders.gateway.remove_broker(3)
    observed(orders)
    row = parts(orders, broker=3)["broker"]["data"]
    assert (row["alive"], row["replicas"]) == (False, 2)


def test_of_a_cluster_that_runs_elsewhere_there_is_no_process(world):
    cluster = cluster_make(world.tenant, name="theirs", kind=REGISTERED)
    world.gateway.add_topic("orders")
    answer = client_for(world.tenant).get(f"/console/api/pages/broker/{cluster.id}/1")
    found = answer.json()["parts"]
    assert found["broker"]["data"]["cluster_kind"] == REGISTERED
    assert "not run by an agent" in found["process"]["reason"]


def part(number, leader, replicas, isr, size):
    return [number, leader, 0, replicas, isr, 0, 10, size]


def test_topics_in_trouble_come_first_and_few_are_named():
    details = {
        "fine": [part(0, 1, [1, 2], [1, 2], 5), part(1, 1, [1, 2], [1, 2], None)],
        "behind": [part(0, 2, [1, 2], [2], 5)],
        "offline": [part(0, None, [1], [1], None)],
        "elsewhere": [part(0, 2, [2, 3], [2, 3], 5)],
    }
    topics = [(name, list(placed({"partitions": rows}))) for name, rows in details.items()]
    found = on_broker(1, topics, rows_max=2)
    assert [row["topic"] for row in found["rows"]] == ["offline", "behind"]
    assert (found["leads"], found["follows"], found["topics"]) == (2, 2, 3)
    assert (found["out_of_sync"], found["offline"]) == (1, 1)
    # It should lead `behind` and does not; of what has no leader nobody else is one.
    assert found["preferred_elsewhere"] == 1
    assert on_broker(1, topics)["rows"][2]["size_bytes"] is None
    assert by_broker(topics) == {broker: on_broker(broker, topics) for broker in (1, 2, 3)}


def operated(world, resource, **more):
    about = {"tenant": world.tenant, "kind": "broker.restart", "cluster_id": world.cluster.id}
    about |= {"resource": resource, **more}
    plan = Plan.objects.create(
        **about, inputs={"broker": 2}, diff={}, impact={}, preconditions={},
        expires_at=timezone.now(),
    )  # fmt: skip
    return Operation.objects.create(**about, plan=plan, state=SUCCEEDED).pk


def about_operations(asked):
    return sum(Operation._meta.db_table in each["sql"] for each in asked)


def test_operations_are_those_about_it_however_many_others_came_later(orders):
    mine = operated(orders, "broker/2")
    other = cluster_make(orders.tenant, "other")
    operated(orders, "broker/2", cluster_id=other.id)
    for resource in ("broker/22", "broker/1", "topic/broker/2"):
        operated(orders, resource)
    with CaptureQueriesContext(connection) as few:
        found = parts(orders)["operations"]["data"]
    assert [row["id"] for row in found] == [mine]
    for _ in range(30):
        operated(orders, "topic/orders")
    with CaptureQueriesContext(connection) as many:
        assert [row["id"] for row in parts(orders)["operations"]["data"]] == [mine]
    # Other parts may be kept ones.
    assert about_operations(many) == about_operations(few)
    every = sorted([mine, *(operated(orders, "broker/2") for _ in range(OPERATIONS_SHOWN))])
    found = [row["id"] for row in parts(orders)["operations"]["data"]]
    assert found == every[::-1][:OPERATIONS_SHOWN]


def test_operations_that_a_scope_does_not_cover_are_not_there(orders):
    operated(orders, "broker/2")
    assert parts(orders, client=member_of(orders.tenant))["operations"]["data"] == []
