"""The contract by kafka-python."""

from __future__ import annotations

import functools
import importlib.util
import multiprocessing
import threading
import time
from typing import Any

import kafka
import kafka_python_admin
import kafka_python_more
from harness import CODECS, MECHANISMS, RECORDS, RUN, AbsentError, eventually, run, values
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka import admin as ka
from kafka import errors as ke
from kafka_python_client import (
    PLAIN,
    WAIT_S,
    consumer,
    create,
    produce,
    read,
    read_all,
    rule,
    secure,
)


def produce_with(codec: str) -> None:
    library = {"snappy": "snappy", "lz4": "lz4", "zstd": "zstandard"}.get(codec)
    if library is not None and importlib.util.find_spec(library) is None:
        raise AbsentError(f"the client takes the library {library} for it, which is not installed")
    topic = f"{RUN}-{codec}"
    create(topic)
    expected = []
    for acks in (0, 1, "all"):
        compression = None if codec == "none" else codec
        given = {"acks": acks, "compression_type": compression, "enable_idempotence": False}
        produce(topic, values(f"a{acks}"), **given)
        expected += values(f"a{acks}")
    assert sorted(read_all(topic, 3 * RECORDS)) == sorted(expected)


def idempotent() -> None:
    topic = f"{RUN}-idempotent"
    create(topic, 1)
    produce(topic, values("i"), enable_idempotence=True)
    assert read_all(topic, RECORDS) == values("i")


class Member(threading.Thread):
    """A consumer in a thread of its own: joining waits inside of a poll."""

    def __init__(self, topic: str) -> None:
        super().__init__(daemon=True)
        self.partitions = 0
        self.values: list[str] = []
        self._topic = topic
        self._leaves = False
        self.start()

    def run(self) -> None:
        client = consumer(self._topic, self._topic)
        while not self._leaves:
            for records in client.poll(200).values():
                self.values += [record.value.decode() for record in records]
            self.partitions = len(client.assignment())
        client.close()

    def leave(self) -> None:
        self._leaves = True
        self.join(WAIT_S)


def join_leave() -> None:
    topic = f"{RUN}-group"
    create(topic, 4)
    one, two = Member(topic), Member(topic)
    eventually(lambda: one.partitions == two.partitions == 2, "two partitions each")
    two.leave()
    eventually(lambda: one.partitions == 4, "all partitions")
    produce(topic, values("g"))
    eventually(lambda: len(one.values) >= RECORDS, "the records")
    assert sorted(one.values) == sorted(values("g"))
    one.leave()


def read_and_hang(topic: str) -> None:
    reader = consumer(topic, topic, max_poll_records=20)
    assert len(read(reader, 20)) == 20
    reader.commit({TopicPartition(topic, 0): kafka.OffsetAndMetadata(20, "", -1)})
    while True:
        time.sleep(1)


def crash() -> None:
    topic = f"{RUN}-crash"
    create(topic, 1)
    produce(topic, values("c"))
    child = multiprocessing.get_context("fork").Process(target=read_and_hang, args=(topic,))
    child.start()
    watcher = consumer(topic)
    eventually(lambda: _offset(watcher, topic) == 20, "it has committed")
    watcher.close()
    child.kill()
    child.join()
    assert read_all(topic, RECORDS - 20) == values("c")[20:]


def _offset(watcher: KafkaConsumer, topic: str) -> int | None:
    found: Any = watcher.committed(TopicPartition(topic, 0))
    return getattr(found, "offset", found)


def topics() -> None:
    topic, client = f"{RUN}-topics", KafkaAdminClient(**PLAIN)
    client.create_topics([ka.NewTopic(topic, 2, 3)])
    client.create_partitions({topic: ka.NewPartitions(3)})
    eventually(lambda: len(client.describe_topics([topic])[0]["partitions"]) == 3, "three")
    client.delete_topics([topic])
    eventually(lambda: topic not in client.list_topics(), "it is gone")
    client.close()


def configs() -> None:
    topic, client = f"{RUN}-configs", KafkaAdminClient(**PLAIN)
    create(topic)
    kind = ka.ConfigResourceType.TOPIC

    def retention() -> str:
        found = client.describe_configs([ka.ConfigResource(kind, topic)], config_filter="all")
        return str(found["topic"][topic]["retention.ms"]["value"])

    assert retention() == "604800000"
    change = {"retention.ms": (ka.AlterConfigOp.SET, "1234")}
    client.alter_configs([ka.ConfigResource(kind, topic, change)], incremental=True)
    eventually(lambda: retention() == "1234", "the new value")
    client.close()


def groups() -> None:
    topic, client = f"{RUN}-groups", KafkaAdminClient(**PLAIN)
    create(topic, 1)
    produce(topic, values("a"))
    read_all(topic, RECORDS)
    assert topic in str(client.list_groups())
    assert "Empty" in str(client.describe_groups([topic]))
    (offsets,) = client.list_group_offsets({topic: None}).values()
    assert offsets[TopicPartition(topic, 0)].offset == RECORDS
    client.delete_groups([topic])
    assert topic not in str(client.list_groups())
    client.close()


def acls() -> None:
    client = KafkaAdminClient(**PLAIN)
    made = rule("somebody", f"{RUN}-acls", ka.ACLOperation.READ)
    client.create_acls([made])
    pattern = ka.ResourcePatternFilter(
        ka.ResourceType.TOPIC, f"{RUN}-acls", ka.ACLResourcePatternType.LITERAL
    )
    wanted = ka.ACLFilter(None, None, ka.ACLOperation.ANY, ka.ACLPermissionType.ANY, pattern)
    found = client.describe_acls(wanted)
    assert made in (found[0] if isinstance(found, tuple) else found)
    client.delete_acls([wanted])
    left = client.describe_acls(wanted)
    assert not (left[0] if isinstance(left, tuple) else left)
    client.close()


def sasl(mechanism: str) -> None:
    topic, login = f"{RUN}-{mechanism}", secure("admin", mechanism)
    create(topic, 1, login)
    produce(topic, values("s"), **login)
    assert read_all(topic, RECORDS, **login) == values("s")
    assert not kafka_python_admin.logs_in(secure("admin", mechanism, "wrong"))


def denied_and_allowed() -> None:
    topic, alice = f"{RUN}-acl", secure("alice", "SCRAM-SHA-256")
    create(topic, 1)
    refused: list[bool] = []
    try:
        produce(topic, ["x"], **alice)
    except ke.KafkaError as error:
        refused.append("uthorization" in f"{type(error).__name__} {error}")
    assert refused == [True]
    client = KafkaAdminClient(**PLAIN)
    client.create_acls([rule("alice", topic, ka.ACLOperation.WRITE)])
    client.close()
    time.sleep(1)
    produce(topic, ["x"], **alice, enable_idempotence=False)


def transactions() -> None:
    topic = f"{RUN}-txn"
    create(topic, 1)
    producer = KafkaProducer(**PLAIN, transactional_id=topic)
    producer.init_transactions()
    for label, end in (("kept", "commit"), ("dropped", "abort"), ("last", "commit")):
        producer.begin_transaction()
        for item in values(label):
            producer.send(topic, item.encode())
        producer.flush()
        getattr(producer, f"{end}_transaction")()
    producer.close()
    found = read_all(topic, 2 * RECORDS, isolation_level="read_committed")
    assert found == values("kept") + values("last")


if __name__ == "__main__":
    run(
        kafka.__version__,
        {
            **{f"produce.{codec}": functools.partial(produce_with, codec) for codec in CODECS},
            "produce.idempotent": idempotent,
            "group.join_leave": join_leave,
            "group.crash": crash,
            "admin.topics": topics,
            "admin.configs": configs,
            "admin.groups": groups,
            "admin.acls": acls,
            **{name: functools.partial(sasl, mechanism) for name, mechanism in MECHANISMS.items()},
            "acl.denied_allowed": denied_and_allowed,
            "txn.commit_abort": transactions,
            **kafka_python_admin.CASES,
            **kafka_python_more.CASES,
        },
    )
