"""Settings, quotas and replicas that are not as they were left: since when, by whom, either way."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.clusters.models import REGISTERED, Broker, Cluster
from controlplane.clusters.questions import Answered
from controlplane.common.grants import Grant, Match, Over, Pattern
from controlplane.common.problems import Conflict, Problem
from controlplane.drift.models import DriftLook, DriftSighting
from controlplane.drift.selectors import FOR_WHOLE
from controlplane.drift.services import LOOKS_A_ROUND, due, look
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP
from controlplane.operations.models import Operation
from controlplane.operations.selectors import undo_of
from controlplane.operations.states import SUCCEEDED
from tests.controlplane.rest.teams import member_of
from tests.controlplane.support import client_for, cluster_make, drive, observed, tenant_make

KEY = "log.retention.ms"
RATE = "producer_byte_rate"


@pytest.fixture
def theirs(world):
    """A Kafka that others run: nothing is written into its brokers' files."""
    Cluster.objects.filter(pk=world.cluster.pk).update(kind=REGISTERED)
    world.cluster.refresh_from_db()
    world.gateway.add_topic("orders", partitions=2, rf=2)
    world.gateway.add_topic("other", partitions=1, rf=2)
    return world


def seen(world):
    observed(world)
    DriftLook.objects.get_or_create(cluster=world.cluster)
    assert look(world.cluster.pk)


def asked(world, client=None):
    client = client or client_for(world.tenant)
    answer = client.get(f"/api/v1/clusters/{world.cluster.id}/drift")
    assert answer.status_code == 200, answer.content
    return answer.json()


def drift(world):
    seen(world)
    return asked(world)["data"]


def one(world, area):
    (row,) = [row for row in drift(world) if row["area"] == area]
    return row


def run(world, way):
    operation = world.run(way["kind"], **way["inputs"])
    assert operation.state == SUCCEEDED, operation.error
    return operation


# -- settings -----------------------------------------------------------------------------------
def test_a_setting_that_somebody_changed_goes_back_or_is_taken_over(theirs):
    made = theirs.run("cluster.configure", config={KEY: "1000"}, canary_s=0)
    assert made.state == SUCCEEDED, made.error
    assert drift(theirs) == []
    theirs.gateway.broker_defaults[KEY] = "2000"
    row = one(theirs, "setting")
    assert (row["name"], row["desired"], row["observed"]) == (KEY, "1000", "2000")
    assert row["operation_id"] == made.id
    run(theirs, row["back"])
    assert theirs.gateway.broker_defaults[KEY] == "1000"
    assert drift(theirs) == []
    theirs.gateway.broker_defaults[KEY] = "3000"
    adopted = run(theirs, one(theirs, "setting")["adopt"])
    assert undo_of(adopted) is None
    assert theirs.gateway.broker_defaults[KEY] == "3000"
    assert drift(theirs) == []


def test_a_setting_of_one_broker_alone_is_taken_away(theirs):
    theirs.run("cluster.configure", config={KEY: "1000"}, canary_s=0)
    theirs.gateway.broker_overrides[2][KEY] = "5"
    row = one(theirs, "setting")
    assert row["observed"] == "1000 on broker 1, 3, 4; 5 on broker 2"
    assert (row["adopt"], "different values" in row["adopt_problem"]) == (None, True)
    run(theirs, row["back"])
    assert KEY not in theirs.gateway.broker_overrides[2]
    assert drift(theirs) == []


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("cluster.configure", {"config": {KEY: "7"}}),
        ("quota.set", {"user": "app", "quotas": {RATE: 7}}),
        ("reassignment", {"moves": [{"topic": "orders", "partition": 0, "replicas": [4]}]}),
    ],
)
def test_what_is_not_as_said_is_not_taken_over(theirs, kind, inputs):
    with pytest.raises(Conflict) as caught:
        theirs.plan(kind, **inputs, adopt=True)
    assert caught.value.code == "not-as-observed"


def test_a_reassignment_takes_over_what_moves_name_alone(theirs):
    with pytest.raises(Problem) as caught:
        theirs.plan("reassignment", topics=["orders"], target_brokers=[1], adopt=True)
    assert "Say by moves what is taken over." in str(caught.value.as_dict())


def test_settings_that_could_not_be_read_are_as_of_before_with_the_reason(theirs):
    theirs.run("cluster.configure", config={KEY: "1000"}, canary_s=0)
    assert drift(theirs) == []
    theirs.gateway.broker_defaults[KEY] = "2000"
    theirs.gateway.fail_next("describe_cluster", GatewayError("TIMED_OUT", "away", retriable=True))
    assert look(theirs.cluster.pk)
    found = asked(theirs)
    (area,) = [each for each in found["areas"] if each["area"] == "setting"]
    assert (found["data"], area["stale_reason"], area["count"]) == ([], "away", 0)


def test_what_a_tenant_s_own_brokers_say_can_be_kept(theirs):
    """PostgreSQL refuses nulls and half surrogate pairs: each look would fail on them."""
    theirs.run("cluster.configure", config={KEY: "1000"}, canary_s=0)
    theirs.gateway.broker_defaults[KEY] = "2\0\udc00"
    assert one(theirs, "setting")["observed"] == "2??"
    kept = DriftLook.objects.get(cluster=theirs.cluster)
    assert [entries[KEY][0] for entries in kept.settings.values()] == ["2??"] * 4
    theirs.gateway.fail_next("describe_cluster", GatewayError("TIMED_OUT", "a\0b\ud800"))
    assert look(theirs.cluster.pk)
    kept.refresh_from_db()
    assert kept.settings_reason == "a?b?"


def test_of_what_was_never_read_nothing_is_claimed(theirs):
    found = asked(theirs)
    assert found["data"] == []
    assert {each["as_of"] for each in found["areas"]} == {None}
    assert {each["count"] for each in found["areas"]} == {None}


# -- quotas -------------------------------------------------------------------------------------
def test_a_quota_that_somebody_changed_goes_back_or_is_taken_over(theirs):
    theirs.run("quota.set", user="app", quotas={RATE: 1_000_000})
    assert drift(theirs) == []
    entity = (("user", "app"),)
    theirs.gateway.alter_quotas(entity, {RATE: 5.0, "consumer_byte_rate": 7.0})
    row = one(theirs, "quota")
    assert (row["name"], row["field"], row["desired"], row["observed"]) == (
        "user app",
        RATE,
        "1000000",
        "5",
    )
    run(theirs, row["back"])
    assert drift(theirs) == []
    theirs.gateway.alter_quotas(entity, {RATE: None})
    row = one(theirs, "quota")
    assert row["observed"] is None
    run(theirs, row["adopt"])
    assert drift(theirs) == []


# -- replicas -----------------------------------------------------------------------------------
def moved(world, *replicas):
    parts = [
        {"topic": "orders", "partition": number, "replicas": list(each)}
        for number, each in enumerate(replicas)
    ]
    operation = world.run("reassignment", moves=parts)
    assert operation.state == SUCCEEDED, operation.error
    return operation


def elsewhere(world, partition, replicas):
    world.gateway.reassign({TP("orders", partition): replicas})
    for _ in range(20):
        if not world.gateway.list_reassignments():
            break
    assert not world.gateway.list_reassignments()


def test_replicas_that_somebody_moved_go_back_or_are_taken_over(theirs):
    left = moved(theirs, (3, 4), (4, 3))
    assert drift(theirs) == []
    elsewhere(theirs, 0, (1, 2))
    row = one(theirs, "replicas")
    assert (row["name"], row["field"], row["operation_id"]) == ("orders", "brokers", left.id)
    assert (row["desired"], row["observed"]) == ("partition 0 on 3, 4", "partition 0 on 1, 2")
    assert row["back"]["inputs"]["throttle_bytes_per_s"] == 50 * 2**20
    run(theirs, row["back"])
    assert drift(theirs) == []
    elsewhere(theirs, 0, (1, 2))
    adopted = run(theirs, one(theirs, "replicas")["adopt"])
    assert undo_of(adopted) is None
    assert drift(theirs) == []


def test_replicas_that_share_a_rack_are_spread_or_accepted(theirs):
    for broker, rack in ((1, "a"), (2, "a"), (3, "b"), (4, "b")):
        node = theirs.gateway.brokers[broker]
        theirs.gateway.brokers[broker] = type(node)(
            id=broker, host=node.host, port=node.port, rack=rack
        )
    for name in ("orders", "other"):
        for part in theirs.gateway.topics[name].partitions:
            part.replicas = (1, 3)
    assert drift(theirs) == []
    theirs.gateway.topics["orders"].partitions[1].replicas = (1, 2)
    row = one(theirs, "replicas")
    assert (row["field"], row["desired"], row["operation_id"]) == ("racks", "in 2 racks", None)
    assert row["observed"] == "partition 1 on 1, 2 (rack a)"
    assert row["back"]["inputs"]["topics"] == ["orders"]
    run(theirs, row["adopt"])
    assert drift(theirs) == []


def test_plans_of_all_topics_together_are_bounded(theirs, monkeypatch):
    theirs.run("reassignment", moves=[{"topic": "other", "partition": 0, "replicas": [3, 4]}])
    moved(theirs, (3, 4), (4, 3))
    for topic in ("orders", "other"):
        theirs.gateway.topics[topic].partitions[0].replicas = (1, 2)
    monkeypatch.setattr("controlplane.drift.finding.ANSWER_MOVES_MAX", 2)
    first, second = drift(theirs)
    assert (first["name"], len(first["back"]["inputs"]["moves"])) == ("orders", 1)
    assert (second["name"], second["back"], second["adopt"]) == ("other", None, None)
    assert second["observed"] == "partition 0 on 1, 2"
    assert "make plans of parts of them" in second["adopt_problem"]


def test_operations_that_cannot_be_about_it_are_not_loaded(theirs, monkeypatch):
    """Plans are large; another kind's are not read, and do not use up the bound."""
    theirs.run("quota.set", user="app", quotas={RATE: 1_000_000})
    theirs.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    plan = theirs.plan(
        "reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [3, 4]}]
    )
    moving = theirs.start(plan)
    operation = theirs.start(theirs.plan("quota.set", user="app", quotas={RATE: 7}))
    monkeypatch.setattr("controlplane.drift.finding.ACTIVE_MAX", 1)
    found = (seen(theirs), asked(theirs))[1]
    assert moving.pk < operation.pk
    assert (found["data"], found["under_way"]) == ([], [operation.id])


def test_while_an_operation_moves_them_nothing_is_claimed(theirs):
    moved(theirs, (3, 4), (4, 3))
    plan = theirs.plan(
        "reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [1, 2]}]
    )
    operation = theirs.start(plan)
    elsewhere(theirs, 0, (1, 2))
    found = (seen(theirs), asked(theirs))[1]
    assert (found["data"], found["under_way"]) == ([], [operation.id])
    drive(operation)
    assert drift(theirs) == []


# -- since when, and by whom --------------------------------------------------------------------
@pytest.fixture
def ours(world):
    """A managed cluster with one broker of an agent, whose audit log is asked for."""
    Broker.objects.create(
        cluster=world.cluster, broker_id=1, host_id="host-1", address="127.0.0.1",
        client_port=9092, internal_port=9093,
    )  # fmt: skip
    world.run("quota.set", user="app", quotas={RATE: 1_000_000})
    return world


def log_says(world, **more):
    line = {
        "at_ms": int(timezone.now().timestamp() * 1_000),
        "principal": "User:eve",
        "host": "10.1.2.3",
        "operation": "ALTER_QUOTAS",
        "resource": "Quota:user=app",
        "detail": RATE,
        **more,
    }
    body = {"changes": [line, {"at_ms": "x"}, 7], "since_ms": 1, "is_whole": True, "left_out": 0}
    world.hosts.answers = lambda _question: Answered(body, at_ms=1)


def test_the_window_is_from_last_equal_to_first_different(ours):
    assert drift(ours) == []
    equal = DriftLook.objects.get().areas["quota"]
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    log_says(ours)
    row = one(ours, "quota")
    assert row["equal_at"] == equal
    assert row["seen_at"] == row["changed_at"] > equal
    first = row["seen_at"]
    assert one(ours, "quota")["seen_at"] == first, "a later look changes nothing"
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 6.0})
    row = one(ours, "quota")
    assert (row["seen_at"], row["changed_at"] > first) == (first, True)


def test_a_broker_s_audit_log_names_the_principal(ours):
    seen(ours)
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    log_says(ours)
    who = one(ours, "quota")["who"]
    assert (who["by"], who["actor"], who["host"]) == ("principal", "User:eve", "10.1.2.3")
    assert "audit log of broker 1" in who["text"]
    question = ours.hosts.asked[-1]
    assert (question.kind, question.args["changes"]) == ("administered", 200)


@pytest.mark.parametrize(
    "more",
    [
        {"resource": "Quota:user=other"},
        {"detail": "consumer_byte_rate"},
        {"at_ms": 5},
        {"principal": "User:penstock-admin"},
    ],
)
def test_a_line_about_something_else_names_nobody(ours, more):
    seen(ours)
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    log_says(ours, **more)
    who = one(ours, "quota")["who"]
    assert (who["by"], who["actor"]) == ("unknown", None)
    assert who["text"].startswith("unknown: changed outside of Penstock since 2")


def test_a_log_of_which_something_was_held_back_may_say_more(ours):
    seen(ours)
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    body = {"changes": [], "since_ms": 1, "is_whole": True, "left_out": 3}
    ours.hosts.answers = lambda _question: Answered(body, at_ms=1)
    who = one(ours, "quota")["who"]
    assert (who["by"], who["unread"]) == (
        "unknown",
        "Of broker 1 not all of the audit log could be read.",
    )
    assert (who["unread_code"], who["unread_params"]) == ("not-whole", {"brokers": "1"})


def test_why_more_may_be_known_is_said_in_english_where_an_earlier_version_kept_it(ours):
    seen(ours)
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    assert one(ours, "quota")["who"]["by"] == "unknown"
    row = DriftSighting.objects.get(area="quota")
    row.who = {"unread": "Nobody knows."} | {
        name: value for name, value in row.who.items() if not name.startswith("unread")
    }
    row.save(update_fields=["who"])
    (found,) = [each for each in asked(ours)["data"] if each["area"] == "quota"]
    assert found["who"]["unread"] == "Nobody knows."
    assert (found["who"]["unread_code"], found["who"]["unread_params"]) == (None, {})


def test_an_operation_that_did_not_succeed_is_named(ours):
    seen(ours)
    operation = ours.start(ours.plan("quota.set", user="app", quotas={RATE: 5}))
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    Operation.objects.filter(pk=operation.pk).update(state="failed", finished_at=timezone.now())
    who = one(ours, "quota")["who"]
    assert (who["by"], who["operation_id"], who["actor"]) == (
        "operation",
        operation.id,
        "user:test",
    )


def test_what_is_mended_is_forgotten(ours):
    seen(ours)
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    one(ours, "quota")
    assert DriftSighting.objects.count() == 1
    ours.gateway.alter_quotas((("user", "app"),), {RATE: 1_000_000.0})
    assert drift(ours) == []
    assert not DriftSighting.objects.exists()


# -- who sees what ------------------------------------------------------------------------------
def over_topic(name):
    return Grant(role="viewer", over=Over.TOPIC, names=Pattern(Match.LITERAL, name))


def test_a_reader_of_a_part_sees_their_topics_alone(theirs):
    theirs.run("quota.set", user="app", quotas={RATE: 1_000_000})
    moved(theirs, (3, 4), (4, 3))
    seen(theirs)
    elsewhere(theirs, 0, (1, 2))
    theirs.gateway.alter_quotas((("user", "app"),), {RATE: 5.0})
    assert {row["area"] for row in drift(theirs)} == {"quota", "replicas"}
    of_orders = member_of(theirs.tenant, [over_topic("orders")], "ann")
    found = asked(theirs, of_orders)
    assert [(row["area"], row["name"]) for row in found["data"]] == [("replicas", "orders")]
    assert {each["area"] for each in found["areas"]} == {"replicas", "topic"}
    of_other = member_of(theirs.tenant, [over_topic("other")], "bob")
    assert asked(theirs, of_other)["data"] == []


def test_a_reader_of_a_part_is_named_no_operation_that_they_do_not_see(theirs):
    left = moved(theirs, (3, 4), (4, 3))
    seen(theirs)
    moving = theirs.start(
        theirs.plan("reassignment", moves=[{"topic": "orders", "partition": 0, "replicas": [1, 2]}])
    )
    elsewhere(theirs, 0, (1, 2))
    seen(theirs)
    ann = member_of(theirs.tenant, [over_topic("orders")], "ann")
    assert asked(theirs)["under_way"] == [moving.id]
    assert asked(theirs, ann)["under_way"] == []
    Operation.objects.filter(pk=moving.pk).update(state="failed", finished_at=timezone.now())
    (row,) = drift(theirs)
    assert (row["operation_id"], row["who"]["operation_id"]) == (left.id, moving.id)
    answer = asked(theirs, ann)
    (hidden,) = answer["data"]
    assert (hidden["name"], hidden["operation_id"], hidden["seen_at"]) == (
        "orders",
        None,
        row["seen_at"],
    )
    assert (hidden["who"]["by"], hidden["who"]["text"]) == ("unknown", FOR_WHOLE)
    assert "user:test" not in str(answer)
    assert [each for each in (left.id, moving.id) if each in str(answer)] == []
    for each in (left, moving):
        assert ann.get(f"/api/v1/operations/{each.id}").status_code == 404


def test_another_tenant_s_cluster_is_not_there(theirs):
    stranger = client_for(tenant_make("strangers"))
    assert stranger.get(f"/api/v1/clusters/{theirs.cluster.id}/drift").status_code == 404


# -- rounds -------------------------------------------------------------------------------------
def test_a_round_asks_for_those_that_are_due_and_no_more_than_it_may(world):
    for number in range(LOOKS_A_ROUND + 3):
        cluster_make(world.tenant, f"c{number}")
    sent = []
    assert due(sent.append) == LOOKS_A_ROUND
    assert due(sent.append, timezone.now() - timedelta(hours=1)) == 0


def test_two_do_not_look_at_one_cluster(theirs, monkeypatch):
    seen(theirs)
    again = []
    monkeypatch.setattr(
        "controlplane.drift.services.keep", lambda row: again.append(look(row.cluster_id))
    )
    assert look(theirs.cluster.pk)
    assert again == [False]
