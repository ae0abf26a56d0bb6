"""What two readings of a cluster make of it: pure, row against row."""

import pytest

from controlplane.observed.changes import (
    CHANGES_A_KIND,
    HIDDEN,
    NAMED_MAX,
    TEXT_MAX_CHARS,
    Change,
    Changes,
    Kind,
    Of,
    Topic,
    of_broker,
    of_cluster,
    of_topic,
)


def part(number, leader=1, replicas=(1, 2, 3), isr=(1, 2, 3), end=0):
    return [number, leader, 0, list(replicas), list(isr), 0, end, 0]


def setting(name, value, source="DYNAMIC_TOPIC_CONFIG", *, sensitive=False):
    return {"name": name, "value": value, "source": source, "sensitive": sensitive}


def topic(*parts, configs=(), topic_id="t1"):
    found = parts or (part(0),)
    row = {"partitions": len(found), "replication_factor": 3, "topic_id": topic_id}
    settings = None if configs is None else list(configs)
    return Topic(row, {"partitions": list(found), "configs": settings})


def told(before, after):
    return [
        (each.kind, each.before, each.after, each.count) for each in of_topic("t", before, after)
    ]


def test_records_that_arrive_are_no_event():
    assert told(topic(part(0, end=1)), topic(part(0, end=900))) == []


@pytest.mark.parametrize(
    ("before", "after", "kind", "was", "is_now"),
    [
        (part(0, leader=1), part(0, leader=2), Kind.LEADER_CHANGED, 1, 2),
        (part(0, leader=1), part(0, leader=None), Kind.PARTITIONS_OFFLINE, 1, None),
        (part(0, leader=None), part(0, leader=3), Kind.PARTITIONS_ONLINE, None, 3),
        (part(0), part(0, isr=(1, 3)), Kind.ISR_SHRUNK, [1, 2, 3], [1, 3]),
        (part(0, isr=(1,)), part(0, isr=(1, 2)), Kind.ISR_GREW, [1], [1, 2]),
        (part(0), part(0, replicas=(1, 2, 4)), Kind.REPLICAS_CHANGED, [1, 2, 3], [1, 2, 4]),
    ],
)
def test_each_thing_that_befalls_a_partition_is_told(before, after, kind, was, is_now):
    assert told(topic(before), topic(after)) == [(kind, {"0": was}, {"0": is_now}, 1)]


def test_replicas_in_another_order_are_the_same():
    assert told(topic(part(0, isr=(1, 2, 3))), topic(part(0, isr=(3, 1, 2)))) == []


def test_a_broker_that_dies_moves_its_leaders_and_shrinks_the_isr():
    before = topic(part(0, leader=1), part(1, leader=2), part(2, leader=1))
    after = topic(
        part(0, leader=2, isr=(2, 3)), part(1, leader=2, isr=(2, 3)), part(2, leader=3, isr=(3, 2))
    )
    assert told(before, after) == [
        (Kind.LEADER_CHANGED, {"0": 1, "2": 1}, {"0": 2, "2": 3}, 2),
        (
            Kind.ISR_SHRUNK,
            {"0": [1, 2, 3], "1": [1, 2, 3], "2": [1, 2, 3]},
            {"0": [2, 3], "1": [2, 3], "2": [3, 2]},
            3,
        ),
    ]


def test_an_isr_that_follows_moved_replicas_is_no_trouble_of_its_own():
    before, after = part(0), part(0, replicas=(1, 2, 4), isr=(1, 2, 4))
    assert [kind for kind, *_ in told(topic(before), topic(after))] == [Kind.REPLICAS_CHANGED]


def test_partitions_that_are_added_are_counted():
    assert told(topic(part(0)), topic(part(0), part(1), part(2))) == [
        (Kind.PARTITIONS_ADDED, {"partitions": 1}, {"partitions": 3}, 2)
    ]


def test_topics_come_and_go():
    size = {"partitions": 1, "replication_factor": 3}
    assert told(None, topic()) == [(Kind.TOPIC_CREATED, {}, size, 1)]
    assert told(topic(), None) == [(Kind.TOPIC_DELETED, size, {}, 1)]
    assert told(None, None) == []


def test_a_topic_of_the_same_name_with_another_id_is_another_topic():
    found = told(topic(part(0, leader=1)), topic(part(0, leader=2), topic_id="t2"))
    assert [kind for kind, *_ in found] == [Kind.TOPIC_DELETED, Kind.TOPIC_CREATED]


def test_an_id_that_was_not_known_before_is_no_new_topic():
    assert told(topic(topic_id=None), topic(topic_id="t2")) == []


def test_settings_that_a_topic_sets_are_compared_by_name():
    before = topic(configs=[setting("retention.ms", "1000"), setting("segment.ms", "5")])
    after = topic(configs=[setting("retention.ms", "2000"), setting("min.insync.replicas", "2")])
    assert told(before, after) == [
        (
            Kind.CONFIG_CHANGED,
            {"min.insync.replicas": None, "retention.ms": "1000", "segment.ms": "5"},
            {"min.insync.replicas": "2", "retention.ms": "2000", "segment.ms": None},
            3,
        )
    ]


def test_a_setting_of_the_brokers_is_none_of_the_topics():
    broker = setting("retention.ms", "1000", source="DYNAMIC_BROKER_CONFIG")
    assert told(topic(configs=[]), topic(configs=[broker])) == []


@pytest.mark.parametrize("pair", [(None, ()), ((), None), (None, None)])
def test_settings_that_nobody_read_are_no_change(pair):
    set_now = [setting("retention.ms", "1")]
    before, after = (None if each is None else set_now for each in pair)
    assert told(topic(configs=before), topic(configs=after)) == []


def test_values_are_cut_and_secrets_hidden():
    long, secret = "x" * 5_000, setting("password", "hunter2", sensitive=True)
    ((_, _, after, _),) = told(topic(), topic(configs=[setting("a", long), secret]))
    assert after == {"a": "x" * TEXT_MAX_CHARS, "password": HIDDEN}


def test_of_many_partitions_some_are_named_and_all_counted():
    many = NAMED_MAX + 7
    before = topic(*(part(n, leader=1) for n in range(many)))
    after = topic(*(part(n, leader=2) for n in range(many)))
    ((kind, was, is_now, count),) = told(before, after)
    assert (kind, len(was), len(is_now), count) == (Kind.LEADER_CHANGED, NAMED_MAX, NAMED_MAX, many)


BROKER = {"id": 3, "live": True}
DEAD = {"id": 3, "live": False}


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (BROKER, DEAD, [Kind.BROKER_DOWN]),
        (BROKER, None, [Kind.BROKER_DOWN]),
        (DEAD, BROKER, [Kind.BROKER_UP]),
        (None, BROKER, [Kind.BROKER_UP]),
        (None, DEAD, []),
        (DEAD, None, []),
        (BROKER, {**BROKER, "leaders": 4}, []),
    ],
)
def test_brokers_leave_and_come(before, after, kinds):
    found = of_broker(before, after)
    assert [each.kind for each in found] == kinds
    assert all((each.of, each.name) == (Of.BROKER, "3") for each in found)


@pytest.mark.parametrize(
    ("health", "controllers", "kinds"),
    [
        (("healthy", "unreachable"), (1, 1), [Kind.CLUSTER_UNREACHABLE]),
        (("unreachable", "unreachable"), (1, 1), []),
        (("unknown", "unreachable"), (1, 1), []),
        (("unreachable", "degraded"), (1, 2), [Kind.CLUSTER_ANSWERS, Kind.CONTROLLER_CHANGED]),
        (("healthy", "degraded"), (1, None), [Kind.CONTROLLER_CHANGED]),
        # A cluster that does not answer has not said that its controller is another one.
        (("healthy", "unreachable"), (1, None), [Kind.CLUSTER_UNREACHABLE]),
        (("healthy", "degraded"), (1, 1), []),
    ],
)
def test_what_befalls_the_whole_cluster(health, controllers, kinds):
    assert [each.kind for each in of_cluster(health=health, controllers=controllers)] == kinds


def test_of_each_kind_the_first_are_kept_and_the_rest_counted():
    found = Changes()
    assert not found
    for number in range(CHANGES_A_KIND + 5):
        found.add(Change(kind=Kind.TOPIC_CREATED, of=Of.TOPIC, name=f"t{number}"))
    found.add(Change(kind=Kind.BROKER_DOWN, of=Of.BROKER, name="1"))
    assert len(found.kept) == CHANGES_A_KIND + 1
    assert found.more() == {Kind.TOPIC_CREATED: 5}
