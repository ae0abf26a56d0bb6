"""A pass over the fake cluster: what the tables then hold, also when parts of it do not answer."""

import types
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from controlplane.clusters.models import RUNNING, Cluster
from controlplane.clusters.operations_base import mark_deleted
from controlplane.common import leases
from controlplane.gateway import readings
from controlplane.gateway.errors import GatewayError, unreachable
from controlplane.gateway.types import TP, LogDirSpace
from controlplane.observed import reading, services
from controlplane.observed.models import ObservedCluster, ObservedTopic
from controlplane.observed.sections import ACLS, BROKERS, GROUPS, TOPICS, USERS
from controlplane.observed.selectors import MODELS, cluster_views, rows_of, section
from controlplane.observed.services import due, observe, observe_touched
from tests.controlplane.support import cluster_make, observed, reader_of_all


@pytest.fixture
def full(world):
    world.gateway.add_topic("orders", partitions=2, rf=3, records=10)
    world.gateway.add_topic("clicks", partitions=1, rf=1, records=5)
    world.gateway.add_group("readers", {TP("orders", 0): 4, TP("orders", 1): 10})
    world.gateway.add_group("others", {TP("clicks", 0): 5}, coordinator=2)
    world.gateway.upsert_user("app", "SCRAM-SHA-512", "secret")
    return world


def keys(world, name):
    return [row.key for row in rows_of(reader_of_all(world), name)]


def row(world, name, key):
    return MODELS[name].objects.get(cluster=world.cluster, key=key)


class Statements:
    """Counts what is sent to the database."""

    def __init__(self):
        self.written = []

    def __call__(self, execute, sql, params, many, context):
        if sql.split()[0] in {"INSERT", "UPDATE", "DELETE"}:
            self.written.append(sql)
        return execute(sql, params, many, context)


def test_a_pass_shows_everything(full):
    observed(full)
    assert keys(full, TOPICS) == ["clicks", "orders"]
    assert keys(full, GROUPS) == ["others", "readers"]
    assert keys(full, USERS) == ["app"]
    assert keys(full, BROKERS) == [f"{i:010d}" for i in (1, 2, 3, 4)]
    assert row(full, TOPICS, "orders").row["records"] == 20
    assert row(full, GROUPS, "readers").row["lag"] == 6
    for name in (BROKERS, TOPICS, GROUPS, USERS, ACLS):
        at = section(reader_of_all(full), name)
        assert (at.as_of is not None, at.reason) == (True, "")


def test_a_pass_that_finds_nothing_new_writes_no_rows(full):
    observed(full)
    statements = Statements()
    with connection.execute_wrapper(statements):
        observed(full)
    tables = [model._meta.db_table for model in MODELS.values()]
    assert [sql for sql in statements.written if any(f'"{table}"' in sql for table in tables)] == []


def test_what_changed_at_the_brokers_is_followed(full):
    observed(full)
    full.gateway.delete_topic("clicks")
    full.gateway.topics["orders"].partitions[0].log_end = 11
    full.gateway.topics["orders"].configs["retention.ms"] = "1000"
    observed(full)
    assert keys(full, TOPICS) == ["orders"]
    found = row(full, TOPICS, "orders").row
    assert (found["records"], found["retention_ms"]) == (21, 1000)


def test_a_cluster_that_is_away_keeps_its_rows_and_their_time(full):
    observed(full)
    before = section(reader_of_all(full), TOPICS).as_of
    full.gateway.offline = True
    observed(full)
    at = section(reader_of_all(full), TOPICS)
    assert keys(full, TOPICS) == ["clicks", "orders"]
    assert (at.as_of, at.reason) == (before, "the fake cluster is off")
    assert cluster_views([reader_of_all(full)])[full.cluster.id].health["status"] == "unreachable"


def test_a_section_that_is_refused_leaves_the_others(full):
    observed(full)
    full.gateway.fail_next("list_users", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    full.gateway.upsert_user("new", "SCRAM-SHA-512", "secret")
    full.gateway.add_topic("new")
    observed(full)
    assert keys(full, USERS) == ["app"]
    assert section(reader_of_all(full), USERS).reason == "no"
    assert keys(full, TOPICS) == ["clicks", "new", "orders"]
    assert section(reader_of_all(full), TOPICS).reason == ""


def test_groups_of_a_silent_coordinator_keep_their_rows_with_their_old_time(full):
    observed(full)
    before = section(reader_of_all(full), GROUPS).as_of
    full.gateway.silent = {2}
    for _ in range(2):  # a second failing pass does not make the rows look newer
        observed(full)
    kept = row(full, GROUPS, "others")
    assert (kept.as_of, kept.unread) == (before, "broker 2 did not answer")
    assert row(full, GROUPS, "readers").unread == ""
    full.gateway.silent = set()
    full.gateway.delete_group("others")
    observed(full)
    assert keys(full, GROUPS) == ["readers"]


def test_what_a_silent_leader_holds_is_unknown_and_said(full):
    leader = full.gateway.topics["clicks"].partitions[0].replicas[0]
    full.gateway.silent = {leader}
    observed(full)
    found = row(full, TOPICS, "clicks").row
    assert (found["records"], found["size_bytes"]) == (None, None)
    assert f"broker {leader} did not answer" in section(reader_of_all(full), TOPICS).reason


def test_settings_that_nobody_gave_stay_the_last_known_ones(full):
    full.gateway.topics["orders"].configs["retention.ms"] = "1000"
    observed(full)
    full.gateway.fail_next("topic_configs", GatewayError("TOPIC_AUTHORIZATION_FAILED", "no"))
    full.gateway.topics["orders"].partitions[0].log_end = 11
    observed(full)
    found = row(full, TOPICS, "orders").row
    assert (found["records"], found["retention_ms"]) == (21, 1000)
    assert "settings of 2 topics" in section(reader_of_all(full), TOPICS).reason


def test_a_missing_broker_degrades_the_cluster(full):
    full.gateway.remove_broker(1)
    observed(full)
    health = cluster_views([reader_of_all(full)])[full.cluster.id].health
    assert health["status"] == "degraded"
    assert "brokers-missing" in [reason["code"] for reason in health["reasons"]]


def test_of_a_broker_s_disks_the_fullest_is_kept(full, monkeypatch):
    said = {1: [("/a", 100, 90), ("/b", 1000, 100)], 2: [("/a", None, None)], 3: [], 4: []}
    spaces = [
        LogDirSpace(broker=broker, log_dir=path, total_bytes=total, usable_bytes=usable)
        for broker, rows in said.items()
        for path, total, usable in rows
    ]

    def disks():
        observed(full)
        found = [each.row for each in rows_of(reader_of_all(full), BROKERS)]
        return {row["id"]: (row["disk_total_bytes"], row["disk_usable_bytes"]) for row in found}

    monkeypatch.setattr(full.gateway, "log_dir_space", lambda _brokers: spaces)
    assert disks() == {1: (1000, 100), **dict.fromkeys((2, 3, 4), (None, None))}
    monkeypatch.undo()
    full.gateway.fail_next("log_dir_space", GatewayError("CLUSTER_AUTHORIZATION_FAILED", "no"))
    assert set(disks().values()) == {(None, None)}
    assert section(reader_of_all(full), BROKERS).reason == "no"


def test_names_that_no_index_holds_are_left_out_and_counted(full):
    full.gateway.add_group("g" * 600, {})
    full.gateway.add_group("nul\0l", {})
    full.gateway.groups["readers"] = full.gateway.groups["readers"].__class__(
        group="readers",
        state="Empty",
        protocol_type="con\0sumer\ud800",
        protocol="",
        coordinator=1,
        members=(),
    )
    observed(full)
    assert keys(full, GROUPS) == ["others", "readers"]
    assert "2 have names that cannot be shown" in section(reader_of_all(full), GROUPS).reason
    assert row(full, GROUPS, "readers").row["protocol_type"] == "con\ufffdsumer?"


# -- touches against a pass that began before -------------------------------------------------
class DuringPass:
    """Does something at the brokers and in the tables while a pass is between two questions."""

    def __init__(self, world, action):
        self.world, self.action = world, action
        self.list_acls = world.gateway.list_acls
        world.gateway.list_acls = self

    def __call__(self):
        self.world.gateway.list_acls = self.list_acls
        self.action()
        return self.list_acls()


def touch(world, named):
    observe_touched(world.cluster.id, world.gateway, named)


def test_a_pass_does_not_undo_what_an_operation_showed_meanwhile(full):
    observed(full)

    def operation():
        full.gateway.delete_topic("clicks")
        full.gateway.add_topic("made")
        touch(full, {TOPICS: ["clicks", "made"]})

    DuringPass(full, operation)
    observed(full)
    assert keys(full, TOPICS) == ["made", "orders"]
    observed(full)
    assert keys(full, TOPICS) == ["made", "orders"]
    assert not ObservedTopic.objects.filter(gone=True).exists()


def test_users_read_meanwhile_are_not_read_back(full):
    observed(full)

    def operation():
        full.gateway.upsert_user("made", "SCRAM-SHA-512", "secret")
        touch(full, {USERS: ["made"]})

    DuringPass(full, operation)
    observed(full)
    assert keys(full, USERS) == ["app", "made"]


def test_a_touch_that_the_cluster_does_not_answer_writes_nothing(full):
    observed(full)
    full.gateway.offline = True
    with pytest.raises(GatewayError):
        touch(full, {TOPICS: ["orders"]})
    assert keys(full, TOPICS) == ["clicks", "orders"]


# -- rounds, leases, forgetting ----------------------------------------------------------------
def asked():
    sent = []
    due(sent.append)
    return sent


def test_a_round_asks_for_those_that_are_due_as_far_as_there_are_hands(world, settings):
    settings.OBSERVERS_MAX = 2
    more = [cluster_make(world.tenant, f"more-{i}") for i in range(3)]
    cluster_make(world.tenant, "young", phase="CREATING")
    assert len(asked()) == 2
    for cluster in (world.cluster, *more):
        observe(cluster.id)
    assert asked() == []
    ObservedCluster.objects.filter(pk=more[0].pk).update(due_at=timezone.now())
    assert asked() == [more[0].pk]
    held = ObservedCluster.objects.filter(pk=more[1].pk)
    assert leases.claim(held, timedelta(seconds=9))
    settings.OBSERVERS_MAX = 1
    assert asked() == [], "the one hand is busy"


def test_one_pass_a_cluster_at_a_time(full):
    observed(full)
    assert leases.claim(ObservedCluster.objects.filter(pk=full.cluster.id), timedelta(seconds=9))
    assert observe(full.cluster.id) is False


def test_a_pass_that_lost_its_lease_writes_nothing(full):
    observed(full)
    full.gateway.delete_topic("clicks")
    rows = ObservedCluster.objects.filter(pk=full.cluster.id)
    DuringPass(full, lambda: rows.update(lease_token="another"))
    assert observe(full.cluster.id) is False
    assert keys(full, TOPICS) == ["clicks", "orders"]


def test_a_fault_of_our_own_is_not_repeated_at_once(full):
    observed(full)
    full.gateway.fail_next("list_users", ZeroDivisionError("bug"))
    with pytest.raises(ZeroDivisionError):
        observe(full.cluster.id)
    found = ObservedCluster.objects.get(pk=full.cluster.id)
    assert found.due_at > timezone.now() + timedelta(seconds=60)
    assert found.lease_token == ""


def test_a_cluster_that_is_away_is_asked_less_and_less(full):
    full.gateway.fail_next("describe_cluster", *[unreachable("gone")] * 2)
    waits = []
    for _ in range(3):
        observed(full)
        found = ObservedCluster.objects.get(pk=full.cluster.id)
        waits.append(round((found.due_at - timezone.now()).total_seconds()))
    assert waits == [30, 60, 15]


def test_a_broker_that_stands_still_does_not_make_the_next_pass_late(full, monkeypatch):
    """Just then it matters what becomes of it."""
    clock = types.SimpleNamespace(now_s=0.0)
    clock.monotonic = lambda: clock.now_s
    for module in (services, reading, readings):
        monkeypatch.setattr(module, "time", clock)
    list_groups = full.gateway.list_groups

    def slow(brokers=None):
        clock.now_s += 10.0 if brokers == [2] else 0.1
        return list_groups(brokers)

    monkeypatch.setattr(full.gateway, "list_groups", slow)
    full.gateway.silent = {2}
    observed(full)
    found = ObservedCluster.objects.get(pk=full.cluster.id)
    assert found.took_ms >= 10_000
    assert round((found.due_at - timezone.now()).total_seconds()) == 15


def test_a_cluster_that_is_let_go_leaves_no_rows(full):
    observed(full)
    DuringPass(full, lambda: mark_deleted(full.cluster.id))
    observe(full.cluster.id)
    services.due(lambda _: None)
    counts = [model.objects.count() for model in (*MODELS.values(), ObservedCluster)]
    assert counts == [0] * len(counts)
    assert Cluster.objects.filter(phase=RUNNING).count() == 0
