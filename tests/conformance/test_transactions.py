"""Transactions end to end: librdkafka's transactional producer and read_committed consumers on
three real brokers, with producers replaced and coordinators killed while they work.
"""

from __future__ import annotations

import contextlib
import itertools
import time
import uuid
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from dataplane.model.coordinator_partition import partition_for
from tests.local_cluster import LocalCluster, eventually, local_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.cluster

STATE_PARTITIONS = 3
WAIT_S = 40


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    settings = {
        "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
        "offsets.topic.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "0",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
    }
    with local_cluster(tmp_path_factory.mktemp("transactions"), settings=settings) as started:
        yield started


def unique(what: str) -> str:
    return f"{what}-{uuid.uuid4().hex[:8]}"


def create(cluster: LocalCluster, partitions: int = 3) -> str:
    topic = unique("topic")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    admin.create_topics([NewTopic(topic, partitions, 3)])[topic].result(30)
    return topic


def producer(cluster: LocalCluster, transactional_id: str, **config: object) -> Producer:
    made = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": 30_000,
            "linger.ms": 0,
            "retry.backoff.ms": 20,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 200,
            **config,
        }
    )
    made.init_transactions(WAIT_S)
    return made


def retried(step, *args):
    """Calls again what librdkafka says may be called again."""
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            return step(*args)
        except KafkaException as failed:
            if not failed.args[0].retriable() or time.monotonic() > deadline:
                raise


def transaction(made: Producer, topic: str, values: list[str], *, commit: bool = True) -> None:
    made.begin_transaction()
    for value in values:
        made.produce(topic, value, key=value)
    made.flush(WAIT_S)
    if commit:
        retried(made.commit_transaction, WAIT_S)
    else:
        retried(made.abort_transaction, WAIT_S)


def read(cluster: LocalCluster, topic: str, until: set[str], *, isolation: str) -> list[str]:
    """All values up to the end, once those of `until` are among them."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": unique("reader"),
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    partitions = consumer.list_topics(topic, 10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, index, 0) for index in partitions])
    values, ended, deadline = [], set(), time.monotonic() + WAIT_S
    while ended != set(partitions) or not until <= set(values):
        assert time.monotonic() < deadline, until - set(values)
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error() is None:
            ended.discard(message.partition())
            values.append(message.value().decode())
        else:
            ended.add(message.partition())
    consumer.close()
    return values


def committed(cluster: LocalCluster, topic: str, until: set[str]) -> list[str]:
    return read(cluster, topic, until, isolation="read_committed")


def coordinator_of(cluster: LocalCluster, transactional_id: str) -> int:
    """The broker that leads the partition of `__transaction_state` that owns the id."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    index = partition_for(transactional_id, STATE_PARTITIONS)
    topics = admin.list_topics(timeout=10).topics
    return topics["__transaction_state"].partitions[index].leader


def kill(cluster: LocalCluster, broker_id: int) -> None:
    """SIGKILL, as soon as the broker is there to be killed."""
    for _ in eventually(WAIT_S, "the broker listens"):
        with contextlib.suppress(LookupError):
            cluster.kill_broker(broker_id)
            return


def in_sync(cluster: LocalCluster, *topics: str) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for _ in eventually(WAIT_S, "every replica is in sync"):
        known = admin.list_topics(timeout=10).topics
        if all(
            len(partition.isrs) == 3
            for topic in (*topics, "__transaction_state")
            for partition in known[topic].partitions.values()
        ):
            return


def values(name: str, count: int = 20) -> list[str]:
    return [f"{name}{number}" for number in range(count)]


def test_what_is_committed_is_read_and_what_is_aborted_is_not(cluster):
    topic, made = create(cluster), producer(cluster, unique("id"))
    kept, lost, more = values("kept"), values("lost"), values("more")
    transaction(made, topic, kept)
    transaction(made, topic, lost, commit=False)
    transaction(made, topic, more)
    found = committed(cluster, topic, set(kept + more))
    assert sorted(found) == sorted(kept + more)
    everything = read(cluster, topic, set(kept + lost + more), isolation="read_uncommitted")
    assert sorted(everything) == sorted(kept + lost + more)


def test_a_second_producer_fences_the_first_and_aborts_what_it_began(cluster):
    topic, name = create(cluster), unique("id")
    first = producer(cluster, name)
    first.begin_transaction()
    for value in values("old"):
        first.produce(topic, value)
    first.flush(WAIT_S)
    second = producer(cluster, name)
    transaction(second, topic, values("new"))
    with pytest.raises(KafkaException) as refused:
        first.commit_transaction(WAIT_S)
    assert refused.value.args[0].fatal()
    assert refused.value.args[0].name() in ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
    assert sorted(committed(cluster, topic, set(values("new")))) == sorted(values("new"))


def test_a_slow_transaction_is_aborted_and_holds_nobody_up(cluster):
    topic = create(cluster, 1)
    slow = producer(cluster, unique("id"), **{"transaction.timeout.ms": 1500})
    slow.begin_transaction()
    slow.produce(topic, "slow")
    slow.flush(WAIT_S)
    transaction(producer(cluster, unique("id")), topic, ["quick"])
    assert committed(cluster, topic, {"quick"}) == ["quick"]
    with pytest.raises(KafkaException):
        slow.commit_transaction(WAIT_S)
    assert committed(cluster, topic, {"quick"}) == ["quick"]


def test_a_coordinator_that_is_killed_in_the_middle_loses_no_decision(cluster):
    topic, name = create(cluster), unique("id")
    made = producer(cluster, name)
    wanted = []
    for number in range(3):
        in_sync(cluster, topic)
        chunk = values(f"{number}-")
        made.begin_transaction()
        for value in chunk:
            made.produce(topic, value, key=value)
        made.flush(WAIT_S)
        kill(cluster, coordinator_of(cluster, name))
        if number == 1:
            retried(made.abort_transaction, WAIT_S)
        else:
            retried(made.commit_transaction, WAIT_S)
            wanted += chunk
    assert sorted(committed(cluster, topic, set(wanted))) == sorted(wanted)
    in_sync(cluster, topic)


def test_a_coordinator_that_is_killed_after_the_decision_has_it_carried_out(cluster):
    topic, name = create(cluster), unique("id")
    in_sync(cluster, topic)
    made = producer(cluster, name)
    transaction(made, topic, values("a"))
    kill(cluster, coordinator_of(cluster, name))
    transaction(made, topic, values("b"), commit=False)
    transaction(made, topic, values("c"))
    wanted = values("a") + values("c")
    assert sorted(committed(cluster, topic, set(wanted))) == sorted(wanted)
    in_sync(cluster, topic)


def test_a_chain_of_consuming_and_producing_does_each_record_once(cluster):
    source, target, name, group = create(cluster), create(cluster), unique("id"), unique("group")
    given = values("r", 120)
    plain = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
    for value in given:
        plain.produce(source, value, key=value)
    assert plain.flush(WAIT_S) == 0
    rounds = itertools.count(1)
    done, deadline = 0, time.monotonic() + 2 * WAIT_S
    while done < len(given):
        # Each life of the application ends without a word in the middle of its work.
        assert time.monotonic() < deadline, done
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": group,
                "group.instance.id": "only",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([source])
        made = producer(cluster, name)
        for _ in range(3):
            messages = consumer.consume(15, 3.0)
            messages = [message for message in messages if message.error() is None]
            if not messages:
                continue
            made.begin_transaction()
            for message in messages:
                made.produce(target, b"done-" + message.value(), key=message.key())
            made.send_offsets_to_transaction(
                consumer.position(consumer.assignment()),
                consumer.consumer_group_metadata(),
                WAIT_S,
            )
            if next(rounds) % 3 == 0:
                made.flush(WAIT_S)
                break  # neither committed nor aborted: the next life fences this one
            retried(made.commit_transaction, WAIT_S)
            done += len(messages)
        consumer.close()
        del made
    wanted = [f"done-{value}" for value in given]
    assert sorted(committed(cluster, target, set(wanted))) == sorted(wanted)
