"""The contract's further cases of groups, logins, rules and transactions, by kafka-python."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import kafka
from harness import RECORDS, RUN, SETTINGS, eventually, values
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka import admin as ka
from kafka import errors as ke
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka_python_admin import admin, logs_in
from kafka_python_client import PLAIN, consumer, create, produce, read, read_all, secure
from members import Member


def static_members() -> None:
    topic = f"{RUN}-static"
    create(topic, 4)

    def member(instance: str) -> Member:
        return Member(
            lambda: consumer(topic, topic, group_instance_id=instance, session_timeout_ms=20_000)
        )

    one, two = member("one"), member("two")
    eventually(lambda: len(one.partitions) == len(two.partitions) == 2, "two partitions each")
    of_one, of_two = one.partitions, two.partitions
    one.leave()
    one = member("one")
    eventually(lambda: one.partitions == of_one, "its partitions are back")
    assert two.partitions == of_two
    assert two.changes == 1, "nobody else rebalanced"
    one.leave()
    two.leave()


class Given(AbstractTokenProvider):
    """The token that the contract has for a name."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def token(self) -> str:
        return self._token


def bearer(name: str) -> dict[str, Any]:
    login = secure("admin", "OAUTHBEARER")
    del login["sasl_plain_username"], login["sasl_plain_password"]
    return login | {"sasl_oauth_token_provider": Given(SETTINGS["tokens"][name])}


def oauthbearer() -> None:
    topic, login = f"{RUN}-oauth", bearer("admin")
    create(topic, 1, login)
    produce(topic, values("s"), **login)
    assert read_all(topic, RECORDS, **login) == values("s")
    assert not logs_in(bearer("wrong"))


def allow(kind: ka.ResourceType, name: str, operation: ka.ACLOperation) -> None:
    pattern = ka.ResourcePattern(kind, name)
    with admin() as client:
        client.create_acls(
            [ka.ACL("User:alice", "*", operation, ka.ACLPermissionType.ALLOW, pattern)]
        )
    time.sleep(1)


def group_rules() -> None:
    topic, alice = f"{RUN}-aclgroup", secure("alice", "SCRAM-SHA-256")
    create(topic, 1)
    produce(topic, values("a"))
    allow(ka.ResourceType.TOPIC, topic, ka.ACLOperation.READ)
    refused: list[str] = []
    try:
        read_all(topic, RECORDS, **alice)
    except ke.KafkaError as error:
        refused.append(type(error).__name__)
    assert refused == ["GroupAuthorizationFailedError"], refused
    allow(ka.ResourceType.GROUP, topic, ka.ACLOperation.READ)
    assert read_all(topic, RECORDS, **alice) == values("a")


def transactional_id_rules() -> None:
    name = f"{RUN}-aclid"
    alice = {**secure("alice", "SCRAM-SHA-256"), "transactional_id": name, "max_block_ms": 8000}
    refused: list[str] = []
    producer = KafkaProducer(**alice)
    try:
        producer.init_transactions()
    except ke.KafkaError as error:
        refused.append(type(error).__name__)
    producer.close(1)
    assert refused == ["TransactionalIdAuthorizationFailedError"], refused
    allow(ka.ResourceType.TRANSACTIONAL_ID, name, ka.ACLOperation.WRITE)
    producer = KafkaProducer(**alice)
    producer.init_transactions()
    producer.close(1)


def transaction_offsets() -> None:
    source = f"{RUN}-chain"
    target = f"{source}-out"
    create(source, 1)
    create(target, 1)
    produce(source, values("x"))
    partition = TopicPartition(source, 0)
    reader: KafkaConsumer = consumer(source, source, isolation_level="read_committed")
    producer = KafkaProducer(**PLAIN, transactional_id=source)
    producer.init_transactions()
    for end in ("abort", "commit"):
        taken = read(reader, RECORDS)
        producer.begin_transaction()
        for each in taken:
            producer.send(target, each.upper().encode())
        offsets = {partition: kafka.OffsetAndMetadata(RECORDS, "", -1)}
        producer.send_offsets_to_transaction(offsets, reader.group_metadata())
        getattr(producer, f"{end}_transaction")()
        if end == "abort":
            assert reader.committed(partition) is None
            reader.seek(partition, 0)
    assert reader.committed(partition) == RECORDS
    producer.close(1)
    reader.close()
    found = read_all(target, RECORDS, isolation_level="read_committed")
    assert found == [each.upper() for each in values("x")]


CASES: dict[str, Callable[[], None]] = {
    "group.static": static_members,
    "sasl.oauthbearer": oauthbearer,
    "acl.groups": group_rules,
    "acl.transactional_ids": transactional_id_rules,
    "txn.offsets": transaction_offsets,
}
