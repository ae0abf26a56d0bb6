"""Growing and shrinking a cluster, decided without one."""

import pytest

from controlplane.clusters.rules import Placement
from controlplane.clusters.scaling_rules import (
    THROTTLE_BYTES_PER_S,
    Shrinking,
    added_notes,
    held_by,
    next_ids,
    pinned,
    refusal,
)
from controlplane.clusters.specs import check_config
from controlplane.gateway.types import (
    TP,
    OngoingReassignment,
    PartitionDescription,
    TopicDescription,
)


def topic(name, *replicas):
    return TopicDescription(
        name=name,
        topic_id="t",
        internal=False,
        partitions=tuple(
            PartitionDescription(
                partition=index, leader=ids[0], leader_epoch=0, replicas=ids, isr=ids
            )
            for index, ids in enumerate(replicas)
        ),
    )


def shrinking(*topics, leaving=(4,), staying=(1, 2, 3), live=(1, 2, 3, 4), moves=(), **config):
    chosen = {key.replace("_", "."): value for key, value in config.items()}
    return Shrinking(
        leaving=frozenset(leaving),
        staying=frozenset(staying),
        live=frozenset(live),
        topics=topics,
        moves=tuple(moves),
        settings=check_config(chosen, broker_count=len(leaving) + len(staying)),
    )


def placed(broker, rack):
    return Placement(
        broker_id=broker,
        host_id=f"h{broker}",
        rack=rack,
        address="10.0.0.1",
        client_port=1,
        internal_port=2,
    )


# -- ids
@pytest.mark.parametrize(
    ("count", "highest", "used", "ids"),
    [
        (1, 0, [], [1]),
        (2, 0, [1, 2, 3], [4, 5]),
        (1, 7, [1, 2, 3], [8]),  # 4 to 7 were given once, and are gone
        (1, 0, [1, 9], [10]),  # a replica list names one that nobody runs
    ],
)
def test_no_id_is_given_twice(count, highest, used, ids):
    assert next_ids(count, highest_given=highest, used=used) == ids


# -- defaults that follow from the number
def settings_of(count, **config):
    return check_config(
        {key.replace("_", "."): value for key, value in config.items()}, broker_count=count
    )


def test_defaults_stay_what_the_running_brokers_have():
    kept = pinned(settings_of(1), settings_of(3), ())
    assert kept == {
        "default.replication.factor": "1",
        "min.insync.replicas": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }


def test_what_does_not_change_or_is_chosen_is_not_written_down():
    assert pinned(settings_of(3), settings_of(5), ()) == {}
    chosen = {"default.replication.factor", "min.insync.replicas"}
    assert not chosen & pinned(settings_of(1), settings_of(3), chosen).keys()


# -- reasons
def test_a_tenant_reads_why_there_by_racks_alone():
    present = [("a", "r1"), ("b", "r2"), ("c", "r2")]
    notes = added_notes([placed(4, "r1"), placed(5, "r1"), placed(6, "r2")], present)
    assert notes[4] == "Rack r1 has 1 broker of the cluster, as few as any."
    assert notes[5] == "Rack r1 has 2 brokers of the cluster, as few as any."
    assert notes[6] == "Rack r2 has 2 brokers of the cluster, as few as any."
    crowded = added_notes([placed(4, "r2")], present)[4]
    assert crowded.endswith("the racks with fewer have no place free.")
    assert added_notes([placed(4, "")], present)[4] == "The hosts have no racks."


# -- refusals, the first to be mended first
def test_brokers_that_hold_nothing_may_go():
    assert refusal(shrinking(topic("orders", (1, 2, 3), (3, 1, 2)))) is None


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (shrinking(leaving=(1,), staying=(), live=(1,)), "last-broker"),
        (shrinking(live=(4,)), "no-live-broker"),
        (shrinking(topic("wide", (1, 2, 3, 4))), "below-replication-factor"),
        (shrinking(leaving=(2, 3, 4), staying=(1,)), "below-default-replication"),
        (shrinking(topic("orders", (1, 2), (2, 4))), "broker-not-empty"),
    ],
)
def test_refused_with_its_code(facts, code):
    assert refusal(facts).code == code


def test_partitions_are_named_and_the_drain_is_offered():
    found = refusal(shrinking(topic("orders", (1, 2), (2, 4), (4, 1))))
    assert found.text == "Broker 4 still holds replicas of 2 partitions (orders-1, orders-2)."
    assert found.extra == {"partitions": ["orders-1", "orders-2"], "partitions_total": 2}
    assert found.next_plan == {
        "kind": "reassignment",
        "inputs": {"drain_broker": 4, "throttle_bytes_per_s": THROTTLE_BYTES_PER_S},
    }


def test_of_several_that_hold_something_all_is_spread_over_those_that_stay():
    facts = shrinking(topic("orders", (1, 4), (2, 5)), leaving=(4, 5), live=(1, 2, 3, 4, 5))
    found = refusal(facts)
    assert found.text.startswith("Brokers 4, 5 still hold replicas of 2 partitions")
    assert found.next_plan["inputs"]["target_brokers"] == [1, 2, 3]


def test_names_are_bounded():
    found = refusal(shrinking(topic("many", *[(1, 4)] * 150)))
    assert len(found.extra["partitions"]) == 100
    assert found.extra["partitions_total"] == 150


def test_fewer_brokers_than_a_topic_has_replicas_offers_fewer_replicas():
    found = refusal(shrinking(topic("wide", (1, 2, 3, 4)), topic("thin", (1,))))
    assert found.next_plan["inputs"]["topics"] == ["wide"]
    assert found.next_plan["inputs"]["replication_factor"] == 3


def test_defaults_that_need_more_brokers_offer_the_change_of_them():
    found = refusal(shrinking(leaving=(3,), staying=(1, 2), live=(1, 2, 3)))
    assert found.code == "below-default-replication"
    assert found.next_plan == {
        "kind": "cluster.configure",
        "inputs": {
            "config": {
                "default.replication.factor": "2",
                "offsets.topic.replication.factor": "2",
                "transaction.state.log.replication.factor": "2",
            }
        },
    }


def test_what_was_read_once_does_not_count_where_its_topic_is_there():
    facts = shrinking(
        topic("__consumer_offsets", (1, 2)),
        topic("__transaction_state", (1, 2)),
        leaving=(3,),
        staying=(1, 2),
        live=(1, 2, 3),
        default_replication_factor="2",
    )
    assert refusal(facts) is None


def test_a_replica_on_its_way_counts():
    move = OngoingReassignment(tp=TP("orders", 0), replicas=(1, 2, 4), adding=(4,), removing=(1,))
    found = refusal(shrinking(topic("orders", (1, 2)), moves=[move]))
    assert found.code == "reassignment-in-progress"
    assert found.extra["partitions"] == ["orders-0"]


def test_held_by_names_each_partition_once():
    assert held_by({4, 5}, [topic("a", (4, 5), (1, 2), (5, 1))]) == {"a-0": [4, 5], "a-2": [5]}
