import json
from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.described import parse_host
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.reports import Observed, parse_observed
from controlplane.clusters.selectors import cluster_get
from controlplane.clusters.services import note_desired, write_desired
from controlplane.common.crypto import unseal
from controlplane.common.grants import EVERYTHING
from controlplane.common.problems import Conflict, NotFound, Problem
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.types import TP
from controlplane.operations.rules import ROLLBACK_DEADLINE_S
from controlplane.operations.services import operation_cancel
from spark_analytics.contracts.telemetry import TELEMETRY_TOPIC
from tests.controlplane.support import ACTOR, drive, step
from zookeeper_access import files, keys
from zookeeper_access.settings import ZooKeeperAccess


def create(world, **inputs):
    return world.run("cluster.create", None, name="demo", **inputs)


def test_created_brokers_are_spread_and_described_to_their_agents(world):
    operation = create(world, broker_count=3, config={"num.partitions": "2"})
    assert operation.state == "succeeded"
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    assert cluster.phase == "RUNNING"
    specs = list(world.hosts.desired.values())
    assert {key[0] for key in world.hosts.desired} == {"host-1", "host-2", "host-3"}
    assert len({spec["config"]["broker.rack"] for spec in specs}) == 3
    config = specs[0]["config"]
    assert config["min.insync.replicas"] == "2"
    assert config["num.partitions"] == "2"
    assert config["zookeeper.connect"].endswith(f"/penstock/clusters/{cluster.id}")
    secret = world.opened(cluster.id)[specs[0]["broker_id"]]
    assert secret["penstock.inter.broker.password"] == unseal(cluster.secrets_token)["broker"]
    assert "penstock.inter.broker.password" not in config


def test_ports_are_never_given_twice(world):
    create(world, broker_count=3)
    world.run("cluster.create", None, name="second", broker_count=3)
    ports = [
        (row.host_id, port)
        for row in Broker.objects.all()
        for port in (row.client_port, row.internal_port)
    ]
    assert len(ports) == len(set(ports)) == 12


def test_two_plans_for_the_same_ports_the_second_is_stale(world):
    first = world.plan("cluster.create", None, name="one")
    second = world.plan("cluster.create", None, name="two")
    world.start(first)
    with pytest.raises(Conflict) as caught:
        world.start(second)
    assert caught.value.code == "plan-stale"


def test_a_broker_that_does_not_start_fails_with_its_log(world):
    operation = world.start(world.plan("cluster.create", None, name="demo", broker_count=1))
    drive(operation, ticks=3)
    (key,) = world.hosts.desired
    world.hosts.reports[key] = Observed(
        state="backoff", generation=1, restarts=9, message="exit 1", log_tail=("boom",)
    )
    drive(operation, ticks=4)
    assert operation.error["code"] == "broker-does-not-start"
    assert operation.error["log_tail"] == ["boom"]
    assert world.hosts.desired[key]["state"] == "deleted"
    world.hosts.reports[key] = Observed(state="deleted", generation=2)
    assert drive(operation).state == "failed"
    assert operation.remains == []
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    assert (cluster.phase, cluster.brokers.count()) == ("DELETED", 0)
    assert not world.hosts.desired
    assert cluster.zookeeper_path not in world.hosts.chroots


def test_one_that_cannot_be_removed_either_stays_as_failed(world):
    operation = world.start(world.plan("cluster.create", None, name="demo", broker_count=1))
    drive(operation, ticks=3)
    (key,) = world.hosts.desired
    world.hosts.reports[key] = Observed(state="failed", generation=1)
    drive(operation, ticks=4)
    assert step(operation, "removed").state == "running"
    long_ago = timezone.now() - timedelta(seconds=ROLLBACK_DEADLINE_S + 1)
    operation.steps.filter(name="removed").update(started_at=long_ago)
    assert drive(operation).state == "failed"
    assert "delete it to remove them" in " ".join(operation.remains)
    assert Cluster.objects.get(pk=operation.cluster_id).phase == "FAILED"


@pytest.mark.parametrize(
    ("generation", "why"), [(0, "generation 0; 1 is desired"), (7, "7, which was never desired")]
)
def test_a_report_of_another_generation_is_ignored_and_said(world, generation, why):
    """Neither an agent that has not looked yet nor one that makes something up moves anything."""
    operation = world.start(world.plan("cluster.create", None, name="demo", broker_count=1))
    drive(operation, ticks=3)
    (key,) = world.hosts.desired
    for state in ("running", "failed"):
        world.hosts.reports[key] = Observed(state=state, generation=generation)
        drive(operation, ticks=3)
        assert operation.state == "running"
        assert why in operation.steps.get(name="processes").detail
    row = cluster_get(world.tenant, EVERYTHING, operation.cluster_id)["brokers"][0]
    assert row["observed_state"] == "unknown"
    assert why in row["message"]
    world.hosts.reports = {}
    assert drive(operation).state == "succeeded"


def test_a_deletion_is_another_generation_and_one_that_is_asked_twice_the_same(world):
    """The report of the running broker says nothing of its deletion."""
    made = create(world, broker_count=1)
    (key,) = world.hosts.desired
    assert world.hosts.desired[key]["generation"] == 1
    deletion = drive(world.start(world.plan("cluster.delete", made.cluster_id)), ticks=3)
    assert world.hosts.desired[key]["generation"] == 2
    cluster = Cluster.objects.get(pk=made.cluster_id)
    note_desired(cluster, state="deleted")
    write_desired(cluster, state="deleted")
    assert world.hosts.desired[key]["generation"] == 2
    world.hosts.reports[key] = Observed(state="deleted", generation=1)
    drive(deletion, ticks=3)
    assert deletion.state == "running"
    world.hosts.reports[key] = Observed(state="deleted", generation=2)
    assert drive(deletion).state == "succeeded"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"7",
        b'"running"',
        b'{"state": 3, "generation": "1", "pid": "x", "log_tail": 5, "message": {}}',
        b'{"generation": true, "log_tail": [1, null]}',
    ],
)
def test_whatever_an_agent_writes_is_read_as_the_types_that_are_promised(data):
    report = parse_observed(data)
    assert report.state == "unknown"
    assert report.generation == 0
    assert report.pid is None
    assert report.log_tail == ()
    assert report.disagreement(1)


def described(**changed):
    row = {
        "host_id": "host-1",
        "rack": "rack-a",
        "address": "10.0.0.11",
        "port_range": [9092, 9191],
        "agent_version": "0.1.0",
        **changed,
    }
    return parse_host("host-1", json.dumps(row).encode(), alive=True, brokers=())


def test_a_host_is_what_it_says_of_itself():
    host = described()
    assert (host.host_id, host.rack, host.address) == ("host-1", "rack-a", "10.0.0.11")
    assert (host.port_first, host.port_last) == (9092, 9191)
    assert described(rack=None).rack == "host-1"


@pytest.mark.parametrize(
    "changed",
    [
        {"host_id": "host-2"},
        {"host_id": None},
        {"address": "a\nlog.dirs=/"},
        {"address": "a,b:1"},
        {"address": ""},
        {"address": 7},
        {"rack": "a\u2028b"},
        {"rack": ["a"]},
        {"port_range": [9191, 9092]},
        {"port_range": [0, 9]},
        {"port_range": [1, 70_000]},
        {"port_range": [True, 9]},
        {"port_range": ["1", "9"]},
        {"port_range": [1]},
        {"port_range": 7},
    ],
)
def test_a_host_that_gives_itself_out_for_another_or_for_what_cannot_be_is_none(changed):
    """Its agent may write its own node, and anything into it."""
    assert described(**changed) is None


def test_what_an_agent_writes_is_of_bounded_size():
    row = {
        "state": "failed",
        "generation": 1,
        "message": "x" * 10**6,
        "log_tail": ["y" * 10**5] * 999,
    }
    report = parse_observed(json.dumps(row).encode())
    assert len(report.message) == 1_000
    assert len(report.log_tail) == 50
    assert {len(line) for line in report.log_tail} == {500}


def test_a_cluster_gets_a_zookeeper_login_of_its_own_and_no_tenant_sets_it(
    world, settings, tmp_path
):
    file = tmp_path / "zookeeper.properties"
    files.write(
        file,
        {
            keys.SASL_USERNAME: "controlplane",
            keys.SASL_PASSWORD: "controlplane-secret-1",
            keys.SET_ACL: "true",
        },
    )
    settings.ZOOKEEPER_CONFIG = str(file)
    found = {}
    for name in ("one", "two"):
        made = create_named(world, name)
        (spec,) = [s for s in world.hosts.desired.values() if s["cluster_id"] == made.cluster_id]
        (secret,) = world.opened(made.cluster_id).values()
        assert secret[keys.SET_ACL] == "true"
        assert secret[keys.ACL_ADMINISTRATORS] == "sasl:controlplane"
        assert secret[keys.ACL_USERNAME] == made.cluster_id
        access = ZooKeeperAccess.parse(secret)
        cluster = Cluster.objects.get(pk=made.cluster_id)
        assert world.hosts.chroots[cluster.zookeeper_path] == (access.owner(),)
        # The control plane's own login does not leave it, and nothing of it is in the open.
        assert keys.SASL_PASSWORD not in secret
        assert secret[keys.ACL_PASSWORD] not in str(spec["config"])
        found[name] = secret[keys.ACL_PASSWORD]
    assert found["one"] != found["two"]
    for key in sorted(keys.ALL):
        with pytest.raises(Problem) as caught:
            world.plan("cluster.create", None, name="x", config={key: "true"})
        assert caught.value.errors[0]["pointer"] == f"/inputs/config/{key}"


def create_named(world, name):
    return world.run("cluster.create", None, name=name, broker_count=1)


def test_zookeeper_and_brokers_away_for_a_moment_only_delay(world):
    operation = world.start(world.plan("cluster.create", None, name="demo"))
    world.hosts.is_away = True
    drive(operation, ticks=3)
    world.hosts.is_away = False
    world.gateway.fail_next("describe_cluster", unreachable("x"), unreachable("x"))
    assert drive(operation).state == "succeeded"


def test_settings_that_cannot_be_read_for_a_moment_only_delay(world, settings, tmp_path):
    """The file of the control plane's own login to ZooKeeper is replaced now and then."""
    file = tmp_path / "zookeeper.properties"
    settings.ZOOKEEPER_CONFIG = str(file)
    operation = drive(world.start(world.plan("cluster.create", None, name="demo")), ticks=4)
    assert operation.state == "running", operation.error
    assert step(operation, "desired").detail == "ZooKeeper does not answer."
    files.write(file, {keys.SET_ACL: "false"})
    assert drive(operation).state == "succeeded"


def test_cancelled_creation_leaves_nothing(world):
    operation = drive(world.start(world.plan("cluster.create", None, name="demo")), ticks=2)
    world.hosts.reports = {key: Observed(state="starting") for key in world.hosts.desired}
    drive(operation, ticks=3)
    operation_cancel(tenant=world.tenant, actor=ACTOR, operation_id=operation.id)
    world.hosts.reports = {}
    assert drive(operation).state == "cancelled"
    assert not world.hosts.desired
    assert not world.hosts.chroots
    assert not Broker.objects.exists()
    with pytest.raises(NotFound):
        cluster_get(world.tenant, EVERYTHING, operation.cluster_id)
    assert create(world).state == "succeeded"


def test_delete_wants_the_name_and_clears_everything(world):
    made = create(world)
    plan = world.plan("cluster.delete", made.cluster_id)
    assert plan.confirm_phrase == "demo"
    assert drive(world.start(plan)).state == "succeeded"
    assert not world.hosts.desired
    assert not world.hosts.chroots
    with pytest.raises(NotFound):
        cluster_get(world.tenant, EVERYTHING, made.cluster_id)


def reach(plan):
    return {row["name"]: (row["value"], row["names"]) for row in plan.impact["blast_radius"]}


@pytest.fixture
def full(world):
    """A cluster with two topics of 50 records, a group that reads one of them, and a user."""
    made = create(world, broker_count=3)
    world.gateway.remove_broker(4)
    world.gateway.add_topic("orders", partitions=3, rf=1, records=50)
    world.gateway.add_topic("__consumer_offsets", records=5)
    world.gateway.add_group("readers", {TP("orders", 0): 5}, members=1)
    world.gateway.users["app", "SCRAM-SHA-512"] = "x"
    world.gateway.users["penstock-admin", "SCRAM-SHA-512"] = "x"
    world.made = made
    return world


def test_deleting_a_cluster_names_what_goes_with_it(full):
    plan = full.plan("cluster.delete", full.made.cluster_id)
    assert reach(plan) == {
        "topics": (1, ["orders"]),
        "records": (155, None),
        "bytes": (15_500, None),
        "groups": (1, ["readers"]),
        "active_groups": (1, ["readers"]),
        "users": (1, ["app"]),
    }


def test_a_cluster_of_which_a_broker_is_gone_is_known_in_part(full):
    full.gateway.remove_broker(3)
    rows = {
        row["name"]: row
        for row in full.plan("cluster.delete", full.made.cluster_id).impact["blast_radius"]
    }
    assert (rows["records"]["value"], rows["records"]["at_least"]) == (None, 105)
    assert rows["records"]["unknown"][0]["brokers"] == [3]


def test_a_cluster_that_is_away_can_still_be_deleted_and_nothing_is_called_empty(full):
    full.gateway.offline = True
    plan = full.plan("cluster.delete", full.made.cluster_id)
    assert [value for value, _ in reach(plan).values()] == [None] * 6
    assert [row["text"] for row in plan.impact["warnings"] if row["code"] == "unknown"] == [
        (
            "Unknown: the cluster did not answer. That leaves uncertain: topics, records, bytes,"
            " groups, groups reading right now, users."
        )
    ]
    assert drive(full.start(plan)).state == "succeeded"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda gateway: gateway.add_topic("late"), "topics"),
        (lambda gateway: gateway.users.update({("late", "PLAIN"): "x"}), "users"),
        (lambda gateway: gateway.add_group("late", {}), "groups"),
    ],
)
def test_what_came_to_a_cluster_since_the_plan_refuses_its_deletion(full, change, name):
    plan = full.plan("cluster.delete", full.made.cluster_id)
    change(full.gateway)
    with pytest.raises(Conflict) as caught:
        full.start(plan)
    assert caught.value.code == "blast-radius-changed"
    assert [(row["name"], row["added"]) for row in caught.value.extra["changes"]] == [
        (name, ["late"])
    ]


@pytest.fixture
def registered(full):
    operation = full.run("cluster.register", None, name="old", bootstrap_servers="a:1")
    full.gateway.add_topic(TELEMETRY_TOPIC, records=3)
    full.old = operation.cluster_id
    return full


def test_registering_says_what_is_written_there(world):
    plan = world.plan("cluster.register", None, name="old", bootstrap_servers="a:1")
    (said,) = [row for row in plan.impact["warnings"] if row["code"] == "writes-there"]
    assert TELEMETRY_TOPIC in said["text"]
    assert "4 partitions, at most 3 replicas, kept for 7 days" in said["text"]
    assert "Letting the cluster go removes the topic." in said["text"]


def test_letting_go_removes_what_the_service_wrote_and_nothing_else(registered):
    plan = registered.plan("cluster.delete", registered.old)
    assert reach(plan) == {"own_topics": (1, [TELEMETRY_TOPIC])}
    assert plan.confirm_phrase == "old"
    operation = drive(registered.start(plan))
    assert operation.state == "succeeded"
    assert set(registered.gateway.topics) == {"orders", "__consumer_offsets"}
    assert registered.gateway.groups
    assert step(operation, "remove").detail == f"{TELEMETRY_TOPIC} removed"
    assert step(operation, "purge").detail == f"{TELEMETRY_TOPIC} is not there"


def test_a_topic_of_ours_that_is_gone_meanwhile_counts_as_removed(registered):
    registered.gateway.fail_next("delete_topic", GatewayError("UNKNOWN_TOPIC_OR_PARTITION"))
    operation = drive(registered.start(registered.plan("cluster.delete", registered.old)))
    assert step(operation, "remove").detail == f"{TELEMETRY_TOPIC} removed"


def test_a_registered_cluster_that_is_away_is_let_go_and_what_may_stay_is_said(registered):
    registered.gateway.offline = True
    plan = registered.plan("cluster.delete", registered.old)
    assert reach(plan) == {"own_topics": (None, [])}
    operation = drive(registered.start(plan))
    assert operation.state == "succeeded"
    assert step(operation, "purge").detail == f"{TELEMETRY_TOPIC} may stay there (unreachable)"


def test_delete_waits_for_operations_under_way(world):
    made = create(world)
    topic = world.plan("topic.create", made.cluster_id, name="t")
    world.start(topic)
    plan = world.plan("cluster.delete", made.cluster_id)
    with pytest.raises(Conflict, match="under way"):
        world.start(plan)


def test_register_governs_an_existing_cluster_and_keeps_its_password_sealed(world):
    operation = world.run(
        "cluster.register",
        None,
        name="old",
        bootstrap_servers="a:1,b:2",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        username="root",
        password="hunter2",
    )
    assert operation.state == "succeeded"
    assert "hunter2" not in str(operation.plan.inputs)
    cluster = Cluster.objects.get(pk=operation.cluster_id)
    assert unseal(cluster.secrets_token) == {"admin": "hunter2"}
    operation.plan.refresh_from_db()
    assert operation.plan.secret_token == ""
    shown = cluster_get(world.tenant, EVERYTHING, cluster.id)
    assert shown["kind"] == "registered"
    assert len(shown["brokers"]) == 4
    deleted = world.run("cluster.delete", cluster.id)
    assert deleted.state == "succeeded"


@pytest.mark.parametrize(
    ("inputs", "pointer"),
    [
        ({"name": "Bad Name"}, "/inputs/name"),
        ({"name": "x", "broker_count": 0}, "/inputs/broker_count"),
        ({"name": "x", "config": {"listeners": "x"}}, "/inputs/config/listeners"),
        ({"name": "xy", "host_ids": ["host-1"]}, "/inputs/host_ids"),
    ],
)
def test_bad_inputs_are_named(world, inputs, pointer):
    with pytest.raises(Problem) as caught:
        world.plan("cluster.create", None, **inputs)
    assert caught.value.errors[0]["pointer"] == pointer


def test_no_hosts_is_said(world):
    world.hosts.known = []
    with pytest.raises(Conflict) as caught:
        world.plan("cluster.create", None, name="x")
    assert caught.value.code == "no-capacity"


def test_a_dead_broker_shows_as_degraded(world):
    made = create(world, broker_count=3)
    world.gateway.remove_broker(2)
    shown = cluster_get(world.tenant, EVERYTHING, made.cluster_id)
    assert shown["phase"] == "DEGRADED"
    assert [row["alive"] for row in shown["brokers"]] == [True, False, True]


def test_what_came_after_the_confirmation_stops_a_cluster_s_deletion(full):
    operation = full.start(full.plan("cluster.delete", full.made.cluster_id))
    full.gateway.add_topic("made-since")
    operation = drive(operation)
    assert (operation.state, operation.error["code"]) == ("failed", "blast-radius-changed")
    assert "made-since" in operation.error["detail"]
    assert Cluster.objects.get(pk=full.made.cluster_id).phase == "RUNNING", "nothing was stopped"
    assert {spec["state"] for spec in full.hosts.desired.values()} == {"running"}
    again = full.start(full.plan("cluster.delete", full.made.cluster_id))
    assert drive(again).state == "succeeded"
