"""What differs, how it is mended, and whose doing it was: pure."""

from datetime import UTC, datetime, timedelta

import pytest

from controlplane.drift.differences import TEXT_MAX, Difference, way
from controlplane.drift.of_quotas import Set, desired_quotas, quotas_drift
from controlplane.drift.of_replicas import (
    NAMED_MAX,
    Moved,
    Wanted,
    desired_replicas,
    placement_drift,
    racks_drift,
    within,
)
from controlplane.drift.of_settings import (
    OF_ALL,
    OF_ONE,
    Configured,
    Seen,
    desired_settings,
    settings_drift,
)
from controlplane.drift.who import (
    KINDS,
    Change,
    Window,
    is_under_way,
    kinds_about,
    tried_as,
    who_of,
)
from controlplane.gateway.types import TP
from controlplane.observed.drift_sentences import UNREAD_NAMES, unread_said

AT = datetime(2026, 1, 1, tzinfo=UTC)
FILE = "STATIC_BROKER_CONFIG"
KEY = "log.retention.ms"
NOT_ALL = unread_said("not-whole", brokers="2")


def settings(*changes, written=None):
    rows = [{"key": KEY, "way": way_, "after": after} for way_, after in changes]
    operations = [Configured(id=f"op_{n}", at=AT, changes=[row]) for n, row in enumerate(rows)]
    return desired_settings(
        operations, written=written or {}, made_by="op_made", made_at=AT - timedelta(days=1)
    )


def seen(*entries):
    return {
        number: {} if entry is None else {KEY: Seen(value=entry[0], source=entry[1])}
        for number, entry in enumerate(entries, 1)
    }


# -- settings
@pytest.mark.parametrize(
    ("wanted", "found", "differs"),
    [
        (settings(("dynamic", "1")), seen(("1", OF_ALL)), False),
        (settings(("dynamic", "1")), seen(("1.0", OF_ALL)), False),
        (settings(("dynamic", "True")), seen(("true", OF_ALL)), False),
        (settings(("dynamic", "1")), seen(("1", FILE)), True),
        (settings(("dynamic", "1")), seen(None), True),
        (settings(("dynamic", "1"), ("dynamic", None)), seen(None), False),
        (settings(("dynamic", "1"), ("dynamic", None)), seen(("5", FILE)), False),
        (settings(("dynamic", None)), seen(("5", OF_ONE)), True),
        (settings(written={KEY: "7"}), seen(("7", FILE)), False),
        (settings(written={KEY: "7"}), seen(("8", FILE)), True),
        (settings(written={KEY: "7"}), seen(None), True),
        (settings(("dynamic", None), written={KEY: "7"}), seen(("7", FILE)), False),
        (settings(("dynamic", "1")), {}, False),
        (settings(), seen(("9", OF_ALL)), False),
    ],
)
def test_a_setting_differs_where_a_broker_does_not_go_by_what_was_left(wanted, found, differs):
    assert bool(settings_drift(wanted, found)) is differs


def test_what_a_broker_hides_is_unknown():
    hidden = {1: {KEY: Seen(value=None, source=OF_ALL, hidden=True)}}
    assert settings_drift(settings(("dynamic", "1")), hidden) == []


def test_a_broker_that_goes_by_an_old_file_is_restarted():
    (found,) = settings_drift(settings(written={KEY: "7"}), seen(("8", FILE)))
    assert found.back == way("cluster.restart")
    assert (found.adopt, found.operation_id) == (None, "op_made")
    assert "change it by a plan" in found.adopt_problem


def test_rates_that_moves_set_are_nobody_s_settings():
    key = "leader.replication.throttled.rate"
    assert desired_settings([], written={key: "1"}, made_by=None, made_at=None) == {}


# -- quotas
def test_a_quota_is_compared_key_by_key():
    operation = Set(
        id="op_1",
        at=AT,
        inputs={"user": None, "client_id": "etl", "quotas": {"producer_byte_rate": 5}},
        after={"producer_byte_rate": 5.0, "consumer_byte_rate": 9.0},
    )
    entity = (("user", None), ("client-id", "etl"))
    wanted = desired_quotas([operation])
    assert quotas_drift(wanted, {entity: {"producer_byte_rate": 5.0}}) == []
    (found,) = quotas_drift(wanted, {})
    assert (found.name, found.field) == ("client id etl of every user", "producer_byte_rate")
    assert found.back["inputs"] == {
        "user": None,
        "client_id": "etl",
        "quotas": {"producer_byte_rate": 5},
    }


# -- replicas
def left(**more):
    return Wanted(**{"replicas": (1, 2), "operation_id": "op_1", "at": AT, **more})


def test_the_last_move_of_a_partition_counts_until_its_topic_is_made_anew():
    row = {"topic": "t", "partition": 0, "after": [1, 2]}
    moves = [
        Moved(id="op_1", at=AT, partitions=[row]),
        Moved(id="op_2", at=AT + timedelta(hours=1), partitions=[{**row, "after": [3, 4]}]),
    ]
    assert desired_replicas(moves, {})[TP("t", 0)].replicas == (3, 4)
    assert desired_replicas(moves, {"t": AT + timedelta(hours=2)}) == {}


def test_another_order_of_the_same_replicas_is_another_preferred_leader():
    found = placement_drift("t", {0: left()}, {0: (2, 1)}, live=(1, 2))
    assert found.text == (
        "t prefers other leaders than the last verified reassignment left: partition 0 → 2, 1."
    )
    assert found.text_code == "replicas/leaders"
    assert found.params == {"topic": "t", "where": "0 → 2, 1", "more": 0}
    assert found.adopt["inputs"] == {
        "moves": [{"topic": "t", "partition": 0, "replicas": [2, 1]}],
        "adopt": True,
    }


def test_there_is_no_way_back_to_a_broker_that_is_gone():
    found = placement_drift("t", {0: left()}, {0: (3, 2)}, live=(2, 3))
    assert (found.back, "Broker 1" in found.back_problem) == (None, True)


def test_what_is_named_is_bounded_and_the_rest_counted():
    many = range(NAMED_MAX + 5)
    found = placement_drift(
        "t", dict.fromkeys(many, left()), dict.fromkeys(many, (2, 1)), live=(1, 2)
    )
    assert found.observed.endswith("and 5 more partitions")
    assert found.text.endswith(" and 5 more partitions.")
    long = "x" * (TEXT_MAX + 9)
    row = Difference(**{**vars_of(found), "observed": long, "params": {"observed": long}}).as_row()
    assert len(row["observed"]) == len(row["params"]["observed"]) == TEXT_MAX


def test_plans_of_one_answer_name_so_many_moves_and_no_more():
    """Each topic within its bound, all of them together are bounded as well."""
    topics = [
        placement_drift(name, dict.fromkeys(range(3), left()), dict.fromkeys(range(3), (2, 1)),
                        live=(1, 2))
        for name in ("a", "b", "c")
    ]  # fmt: skip
    found, room = [], 9
    for each in topics:
        kept, room = within(each, room)
        found.append((kept.back is None, kept.adopt is None))
    assert (found, room) == ([(False, False), (False, True), (True, True)], 0)
    assert kept.back_problem == kept.adopt_problem
    assert "make plans of parts of them" in kept.adopt_problem
    assert kept.back_problem_code == kept.adopt_problem_code == "too-many"
    assert kept.as_row()["adopt_problem_params"] == {"most": 1000}
    assert (kept.mark, kept.observed) == (topics[2].mark, topics[2].observed)


def vars_of(difference):
    return {name: getattr(difference, name) for name in difference.__slots__}


RACKS = {1: "a", 2: "a", 3: "b"}


@pytest.mark.parametrize(
    ("replicas", "racks", "differs"),
    [
        ((1, 3), RACKS, False),
        ((1, 2), RACKS, True),
        ((1,), RACKS, False),
        ((1, 2), {1: "a", 2: "a"}, False),
        ((1, 2, 3), RACKS, False),
        ((1, 9), RACKS, False),
    ],
)
def test_replicas_share_a_rack_only_where_they_need_not(replicas, racks, differs):
    found = racks_drift("t", {0: replicas}, racks, accepted={}, live=tuple(racks))
    assert (found is not None) is differs


def test_what_a_verified_operation_left_so_is_accepted():
    accepted = {0: left()}
    assert racks_drift("t", {0: (1, 2)}, RACKS, accepted=accepted, live=(1, 2, 3)) is None


# -- who
WINDOW = Window(equal_at=AT, seen_at=AT + timedelta(minutes=1))
RULE = {
    "principal": "User:app", "host": "*", "operation": "READ", "permission": "ALLOW",
    "resource_type": "TOPIC", "resource_name": "orders", "pattern_type": "LITERAL",
}  # fmt: skip


def difference(area, name="orders", field="", **inputs):
    return Difference(
        area=area, name=name, field=field, desired="1", observed="2", operation_id="op_1",
        text="", text_code="setting", params={}, back=way("x", **inputs), adopt=None,
    )  # fmt: skip


def change(operation, resource, detail="", *, after_s=30, principal="User:eve"):
    at_ms = int((AT.timestamp() + after_s) * 1_000)
    return Change(
        at_ms=at_ms, principal=principal, host="10.0.0.9", operation=operation, resource=resource,
        detail=detail, broker=3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (difference("setting", KEY), change("ALTER_CONFIGS", "Broker:", f"a,{KEY}")),
        (difference("setting", KEY), change("ALTER_CONFIGS", "Broker:2", KEY)),
        (
            difference("quota", "x", "k", user="app", client_id=None),
            change("ALTER_QUOTAS", "Quota:client-id=<default>,user=app", "k,j"),
        ),
        (difference("replicas", "a-b"), change("REASSIGN", "Partition:a-b-0", "replicas [1]")),
        (
            difference("topic", field="replication_factor"),
            change("REASSIGN", "Partition:orders-11"),
        ),
        (difference("topic", field="retention.ms"), change("CREATE", "Topic:orders")),
        (difference("topic", field="partitions"), change("ALTER", "Topic:orders")),
        (difference("user", "app"), change("SET_CREDENTIAL", "User:app")),
        (
            difference("acl", bindings=[RULE]),
            change("DELETE_ACL", "TOPIC:LITERAL:orders", "ALLOW READ to User:app from *"),
        ),
    ],
)
def test_a_line_that_is_about_it_names_the_principal(found, line):
    who = who_of(found, WINDOW, tried=[], changes=[line], unread=unread_said())
    assert (who["by"], who["actor"], who["host"]) == ("principal", "User:eve", "10.0.0.9")


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (difference("setting", KEY), change("ALTER_CONFIGS", "Topic:t", KEY)),
        (difference("setting", KEY), change("ALTER_CONFIGS", "Broker:", f"x.{KEY}")),
        (difference("replicas", "a"), change("REASSIGN", "Partition:a-b-0")),
        (difference("topic", field="retention.ms"), change("ALTER", "Topic:orders")),
        (difference("user", "app"), change("SET_CREDENTIAL", "User:app2")),
        (difference("user", "app"), change("SET_CREDENTIAL", "User:app", after_s=500)),
        (difference("user", "app"), change("SET_CREDENTIAL", "User:app", after_s=-500)),
        (
            difference("acl", bindings=[RULE]),
            change("DELETE_ACL", "TOPIC:LITERAL:orders", "ALLOW WRITE to User:app from *"),
        ),
    ],
)
def test_a_line_about_something_else_or_of_another_time_does_not(found, line):
    who = who_of(found, WINDOW, tried=[], changes=[line], unread=NOT_ALL)
    assert who["text"] == "unknown: changed outside of Penstock since 2026-01-01T00:00:00Z"
    assert {name: who[name] for name in UNREAD_NAMES} == NOT_ALL


def tried(kind, resource="", after_s=10, **more):
    return tried_as(
        id="op_9", kind=kind, actor="user:bob", at=AT + timedelta(seconds=after_s),
        resource=resource, **{"inputs": {}, "diff": {}, **more},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "operation"),
    [
        (difference("setting", KEY), tried("cluster.configure", inputs={"config": {KEY: "2"}})),
        (
            difference("topic", field="k"),
            tried("topic.update", "topic/orders", inputs={"configs": {"k": "2"}}),
        ),
        (difference("user", "app"), tried("user.rotate", "user/app")),
        (difference("acl", bindings=[RULE]), tried("acl.delete", inputs={"bindings": [RULE]})),
        (
            difference("replicas"),
            tried("reassignment", diff={"partitions": [{"topic": "orders"}]}),
        ),
    ],
)
def test_an_operation_that_did_not_succeed_comes_before_any_log(found, operation):
    line = change("ALTER_CONFIGS", "Broker:", KEY)
    who = who_of(found, WINDOW, tried=[operation], changes=[line], unread=unread_said())
    assert (who["by"], who["actor"], who["operation_id"]) == ("operation", "user:bob", "op_9")
    assert is_under_way(found, operation)
    early = tried(operation.kind, operation.resource, after_s=-5)
    assert who_of(found, WINDOW, tried=[early], changes=[], unread=unread_said())["by"] == "unknown"


def test_rolls_and_replacements_hold_settings_and_replicas():
    assert is_under_way(difference("setting", KEY), tried("cluster.upgrade"))
    assert is_under_way(difference("replicas"), tried("cluster.replace_broker"))
    assert not is_under_way(difference("user", "app"), tried("cluster.upgrade"))


def test_of_a_plan_its_topics_are_kept_once_and_not_its_rows():
    rows = [{"topic": f"t{n % 3}", "partition": n, "after": [1]} for n in range(5_000)]
    operation = tried("reassignment", inputs={"moves": rows}, diff={"partitions": rows})
    assert operation.topics == {"t0", "t1", "t2"}
    assert is_under_way(difference("replicas", "t1"), operation)
    assert is_under_way(difference("topic", "t1", "replication_factor"), operation)
    assert not is_under_way(difference("topic", "t1", "retention.ms"), operation)
    assert not is_under_way(difference("replicas", "t3"), operation)
    other = tried("topic.partitions", "topic/x", diff={"partitions": {"before": 1, "after": 2}})
    assert other.topics == frozenset()


def test_rules_are_those_that_an_operation_makes_or_deletes():
    gone = tried("user.delete", "user/app", diff={"before": {"acls": [RULE]}})
    made = tried("user.create", "user/app", inputs={"acls": [dict(reversed(RULE.items()))]})
    for each in (gone, made):
        assert is_under_way(difference("acl", bindings=[RULE]), each)
        assert not is_under_way(difference("acl", bindings=[{**RULE, "host": "1.2.3.4"}]), each)


@pytest.mark.parametrize("area", sorted(KINDS))
def test_only_kinds_that_may_be_about_it_are_asked_for(area):
    found = difference(area, KEY, "replication_factor", bindings=[RULE])
    asked = kinds_about([found])
    assert asked >= KINDS[area]
    for kind in {"cluster.upgrade", "cluster.replace_broker", *set().union(*KINDS.values())}:
        operation = tried(kind, f"{area}/{KEY}", inputs={"config": {KEY: 1}, "bindings": [RULE]})
        assert kind in asked or not is_under_way(found, operation)
    assert kinds_about([]) == frozenset()
