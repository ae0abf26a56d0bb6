"""The contract's cases of the administrator, by kafka-python."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from harness import RECORDS, RUN, eventually, values
from kafka import KafkaAdminClient, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka import admin as ka
from kafka import errors as ke
from kafka.protocol.admin.topics import ElectionType
from kafka_python_client import PLAIN, create, produce, read_all, secure


@contextmanager
def admin(login: dict[str, Any] = PLAIN) -> Iterator[KafkaAdminClient]:
    client = KafkaAdminClient(**login)
    try:
        yield client
    finally:
        client.close()


def made(name: str) -> TopicPartition:
    create(f"{RUN}-{name}", 1)
    return TopicPartition(f"{RUN}-{name}", 0)


def records() -> None:
    partition = made("records")
    produce(partition.topic, values("r"))
    with admin() as client:
        client.delete_records({partition: 20})
        offset = client.list_partition_offsets({partition: ka.OffsetSpec.EARLIEST})[partition]
        assert offset.offset == 20
        offset = client.list_partition_offsets({partition: ka.OffsetSpec.LATEST})[partition]
        assert offset.offset == RECORDS
    assert read_all(partition.topic, RECORDS - 20) == values("r")[20:]


def described(client: KafkaAdminClient, partition: TopicPartition) -> dict[str, Any]:
    found: dict[str, Any] = client.describe_topics([partition.topic])[0]["partitions"][0]
    return found


def move(client: KafkaAdminClient, partition: TopicPartition, wanted: list[int]) -> None:
    answer = client.alter_partition_reassignments({partition: wanted})
    assert answer[partition] in (None, ke.NoError), answer

    def moved() -> bool:
        under_way = client.list_partition_reassignments()
        return partition not in under_way and _replicas(client, partition) == wanted

    eventually(moved, f"the replicas are {wanted}")


def _replicas(client: KafkaAdminClient, partition: TopicPartition) -> list[int]:
    return list(described(client, partition)["replica_nodes"])


def reassign() -> None:
    partition = made("reassign")
    produce(partition.topic, values("m"))
    with admin() as client:
        one, two, three = _replicas(client, partition)
        move(client, partition, [one, two])
        move(client, partition, [three, one, two])
    assert read_all(partition.topic, RECORDS) == values("m")


def elect() -> None:
    partition = made("elect")
    with admin() as client:
        one, two, three = _replicas(client, partition)
        move(client, partition, [two, three, one])
        client.elect_leaders(ElectionType.PREFERRED, {partition.topic: [0]})
        eventually(lambda: described(client, partition)["leader_id"] == two, "the preferred leader")


def log_dirs() -> None:
    partition = made("logdirs")
    produce(partition.topic, values("l"))

    def sizes() -> list[int]:
        with admin() as client:
            found = client.describe_log_dirs({partition.topic: [0]})
        return [
            each["partition_size"]
            for broker in found
            for directory in broker["log_dirs"]
            for topic in directory["topics"]
            for each in topic["partitions"]
        ]

    eventually(lambda: len(sizes()) == 3 and all(sizes()), "three replicas with bytes")


def scram() -> None:
    user = f"{RUN}-user"
    mechanism = ka.ScramMechanism.SCRAM_SHA_256
    with admin() as client:
        change = ka.UserScramCredentialUpsertion(user, mechanism, "pass-1", 4096)
        assert client.alter_user_scram_credentials([change]) == {user: None}

        def seen() -> object:
            found = client.describe_user_scram_credentials([user])[user]
            return [(each["mechanism"], each["iterations"]) for each in found["credential_infos"]]

        eventually(lambda: seen() == [(mechanism, 4096)], "the user")
        login = secure(user, "SCRAM-SHA-256", "pass-1")
        eventually(functools.partial(logs_in, login), "the user logs in")
        client.alter_user_scram_credentials([ka.UserScramCredentialDeletion(user, mechanism)])
        eventually(lambda: not logs_in(login), "the user is refused")


def logs_in(login: dict[str, Any]) -> bool:
    """Whether it does. AssertionError if it does not for another reason than the login.

    The client tries other brokers until its time is up: why it did is in its log only.
    """
    heard = Heard()
    logging.getLogger("kafka").addHandler(heard)
    try:
        with admin({**login, "bootstrap_timeout_ms": 4000}):
            return True
    except ke.KafkaError:
        # Refused at its first message, the client sees the end of the connection alone.
        refusals = ("uthentication", "socket disconnected")
        assert any(words in each for each in heard.said for words in refusals), heard.said
        return False
    finally:
        logging.getLogger("kafka").removeHandler(heard)


class Heard(logging.Handler):
    """What the client logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def offsets() -> None:
    partition = made("offsets")
    group = partition.topic
    produce(group, values("o"))
    read_all(group, RECORDS)
    with admin() as client:
        client.alter_group_offsets(group, {partition: OffsetAndMetadata(10, "", -1)})
        assert client.list_group_offsets({group: None})[group][partition].offset == 10
        assert read_all(group, RECORDS - 10) == values("o")[10:]
        client.delete_group_offsets(group, [partition])
        assert partition not in client.list_group_offsets({group: None})[group]


def transactions() -> None:
    partition = made("hanging")
    producer = KafkaProducer(**PLAIN, transactional_id=partition.topic)
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(partition.topic, b"lost").get(20)
    with admin() as client:
        listed = client.list_transactions(state_filters=["Ongoing"])
        ids = {each.transactional_id for found in listed.values() for each in found}
        assert partition.topic in ids
        found = client.describe_transactions([partition.topic])[partition.topic]
        assert found.state.value == "Ongoing"
        (state,) = client.describe_producers([partition])[partition].active_producers
        assert (state.producer_id, state.producer_epoch) == (
            found.producer_id,
            found.producer_epoch,
        )
        spec = ka.AbortTransactionSpec(partition, state.producer_id, state.producer_epoch)
        client.abort_transaction(spec)
        (state,) = client.describe_producers([partition])[partition].active_producers
        assert state.current_transaction_start_offset in (None, -1)
    produce(partition.topic, ["after"])
    assert read_all(partition.topic, 1, isolation_level="read_committed") == ["after"]
    producer.close(1)


def cluster() -> None:
    with admin() as client:
        found = client.describe_cluster()
        assert len(found["brokers"]) == 3
        assert len(found["cluster_id"]) == 22
        client.describe_features()
        assert client.api_versions()


CASES: dict[str, Callable[[], None]] = {
    "admin.offsets": offsets,
    "admin.records": records,
    "admin.reassign": reassign,
    "admin.elect": elect,
    "admin.log_dirs": log_dirs,
    "admin.scram": scram,
    "admin.transactions": transactions,
    "admin.cluster": cluster,
}
