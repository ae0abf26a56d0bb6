"""The contract by confluent-kafka."""

from __future__ import annotations

import functools
import multiprocessing
import time
from typing import Any

import confluent_kafka as ck
from confluent_kafka import admin as ka
from confluent_kafka_admin import ADMIN
from confluent_kafka_client import admin, consumer, create, produce, read, rule, secure
from confluent_kafka_more import MORE
from harness import BOOTSTRAP, CODECS, MECHANISMS, RECORDS, RUN, eventually, run, values


def produce_with(codec: str) -> None:
    topic = f"{RUN}-{codec}"
    create(topic)
    expected = []
    for acks in ("0", "1", "all"):
        produce(topic, values(acks), acks=acks, **{"compression.type": codec})
        expected += values(acks)
    reader = consumer(f"{RUN}-{codec}")
    reader.subscribe([topic])
    assert sorted(read(reader, 3 * RECORDS)) == sorted(expected)
    reader.close()


def idempotent() -> None:
    topic = f"{RUN}-idempotent"
    create(topic, 1)
    produce(topic, values("i"), **{"enable.idempotence": True})
    reader = consumer(f"{RUN}-idempotent")
    reader.subscribe([topic])
    assert read(reader, RECORDS) == values("i")
    reader.close()


def joins_and_leaves(group: str, **config: Any) -> None:
    create(group, 4)
    one, two = consumer(group, **config), consumer(group, **config)
    one.subscribe([group])
    two.subscribe([group])

    def shared() -> bool:
        one.poll(0.1)
        two.poll(0.1)
        return len(one.assignment()) == len(two.assignment()) == 2

    eventually(shared, "two partitions each")
    two.close()
    eventually(lambda: one.poll(0.1) is None and len(one.assignment()) == 4, "all partitions")
    produce(group, values("g"))
    assert sorted(read(one, RECORDS)) == sorted(values("g"))
    one.close()


def crash(protocol: str) -> None:
    topic = f"{RUN}-crash-{protocol}"
    create(topic, 1)
    produce(topic, values("c"))
    # The member is a process of its own, which says nothing as it goes.
    child = multiprocessing.get_context("fork").Process(
        target=read_and_hang, args=(topic, protocol)
    )
    child.start()
    eventually(lambda: committed(topic) == 20, "the member has committed")
    child.kill()
    child.join()
    second = member(topic, protocol)
    second.subscribe([topic])
    assert read(second, RECORDS - 20, 45) == values("c")[20:]
    second.close()


def member(topic: str, protocol: str) -> ck.Consumer:
    config = {} if protocol == "classic" else {"group.protocol": protocol}
    return consumer(topic, **config)


def read_and_hang(topic: str, protocol: str) -> None:
    reader = member(topic, protocol)
    reader.subscribe([topic])
    assert len(reader.consume(20, 30)) == 20
    reader.commit(offsets=[ck.TopicPartition(topic, 0, 20)], asynchronous=False)
    while True:
        reader.poll(1)


def committed(topic: str) -> int:
    reader = consumer(topic)
    (offset,) = reader.committed([ck.TopicPartition(topic, 0)], 10)
    reader.close()
    return int(offset.offset)


def topics() -> None:
    topic, client = f"{RUN}-topics", admin()
    create(topic, 2)
    client.create_partitions([ka.NewPartitions(topic, 3)])[topic].result(20)

    def partitions() -> int:
        found = client.list_topics(timeout=10).topics
        return len(found[topic].partitions) if topic in found else 0

    eventually(lambda: partitions() == 3, "three partitions")
    client.delete_topics([topic])[topic].result(20)
    eventually(lambda: topic not in client.list_topics(timeout=10).topics, "it is gone")


def configs() -> None:
    topic, client = f"{RUN}-configs", admin()
    create(topic)
    resource = ka.ConfigResource(ka.ResourceType.TOPIC, topic)

    def retention() -> str:
        return client.describe_configs([resource])[resource].result(20)["retention.ms"].value

    assert retention() == "604800000"
    entry = ka.ConfigEntry("retention.ms", "1000", incremental_operation=ka.AlterConfigOpType.SET)
    change = ka.ConfigResource(ka.ResourceType.TOPIC, topic, incremental_configs=[entry])
    client.incremental_alter_configs([change])[change].result(20)
    eventually(lambda: retention() == "1000", "the new value")


def groups() -> None:
    topic, client = f"{RUN}-groups", admin()
    create(topic, 1)
    produce(topic, values("a"))
    reader = consumer(topic)
    reader.subscribe([topic])
    read(reader, RECORDS)
    reader.commit(asynchronous=False)
    described = client.describe_consumer_groups([topic])[topic].result(20)
    assert described.state == ck.ConsumerGroupState.STABLE
    reader.close()
    assert topic in {group.group_id for group in client.list_consumer_groups().result(20).valid}
    asked = ck.ConsumerGroupTopicPartitions(topic)
    offsets = client.list_consumer_group_offsets([asked])[topic].result(20)
    assert [each.offset for each in offsets.topic_partitions] == [RECORDS]
    client.delete_consumer_groups([topic])[topic].result(20)


def acls() -> None:
    client, binding = admin(), rule("somebody", f"{RUN}-acls", ka.AclOperation.READ)
    client.create_acls([binding])[binding].result(20)
    wanted = ka.AclBindingFilter(
        ka.ResourceType.TOPIC,
        f"{RUN}-acls",
        ka.ResourcePatternType.LITERAL,
        None,
        None,
        ka.AclOperation.ANY,
        ka.AclPermissionType.ANY,
    )
    assert client.describe_acls(wanted).result(20) == [binding]
    assert client.delete_acls([wanted])[wanted].result(20) == [binding]
    assert client.describe_acls(wanted).result(20) == []


def sasl(mechanism: str) -> None:
    topic = f"{RUN}-{mechanism}"
    good = secure("admin", mechanism)
    create(topic, 1, admin(good))
    produce(topic, values("s"), **good)
    reader = consumer(topic, **good)
    reader.subscribe([topic])
    assert read(reader, RECORDS) == values("s")
    reader.close()
    errors: list[Any] = []
    bad = {**secure("admin", mechanism, "wrong"), "error_cb": errors.append}
    client = ka.AdminClient(bad)
    eventually(lambda: client.poll(0.2) is not None and bool(errors), "the refusal", 15)
    assert any(error.code() == ck.KafkaError._AUTHENTICATION for error in errors)  # noqa: SLF001


def denied_and_allowed() -> None:
    topic, alice = f"{RUN}-acl", secure("alice", "SCRAM-SHA-256")
    create(topic, 1)
    refused: list[int] = []
    try:
        produce(topic, ["x"], **alice)
    except ck.KafkaException as error:
        refused.append(error.args[0].code())
    assert refused == [ck.KafkaError.TOPIC_AUTHORIZATION_FAILED]
    binding = rule("alice", topic, ka.AclOperation.WRITE)
    client = admin()
    client.create_acls([binding])[binding].result(20)
    time.sleep(1)
    produce(topic, ["x"], **alice)


def transactions() -> None:
    topic = f"{RUN}-txn"
    create(topic, 1)
    producer = ck.Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": topic})
    producer.init_transactions(30)
    for label, ends in (("kept", "commit"), ("dropped", "abort"), ("last", "commit")):
        producer.begin_transaction()
        for item in values(label):
            producer.produce(topic, item)
        producer.flush(20)
        getattr(producer, f"{ends}_transaction")(30)
    reader = consumer(topic, **{"isolation.level": "read_committed"})
    reader.subscribe([topic])
    assert read(reader, 2 * RECORDS) == values("kept") + values("last")
    reader.close()


run(
    f"{ck.__version__}, librdkafka {ck.libversion()[0]}",
    {
        **{f"produce.{codec}": functools.partial(produce_with, codec) for codec in CODECS},
        "produce.idempotent": idempotent,
        "group.join_leave": functools.partial(joins_and_leaves, f"{RUN}-group"),
        "group.crash": functools.partial(crash, "classic"),
        "group.consumer_crash": functools.partial(crash, "consumer"),
        "group.consumer_protocol": functools.partial(
            joins_and_leaves, f"{RUN}-new", **{"group.protocol": "consumer"}
        ),
        "admin.topics": topics,
        "admin.configs": configs,
        "admin.groups": groups,
        "admin.acls": acls,
        **{name: functools.partial(sasl, mechanism) for name, mechanism in MECHANISMS.items()},
        "acl.denied_allowed": denied_and_allowed,
        "txn.commit_abort": transactions,
        **ADMIN,
        **MORE,
    },
)
