"""What the programs of kafka-python share: its clients, made and used."""

from __future__ import annotations

import time
from typing import Any

from harness import BOOTSTRAP, CA, PASSWORDS, SECURE
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka import admin as ka

PLAIN = {"bootstrap_servers": BOOTSTRAP.split(",")}
WAIT_S = 20


def create(topic: str, partitions: int = 2, login: dict[str, Any] = PLAIN) -> None:
    client = KafkaAdminClient(**login)
    client.create_topics([ka.NewTopic(topic, partitions, 3)])
    client.close()


def produce(topic: str, items: list[str], **config: Any) -> None:
    producer = KafkaProducer(**{**PLAIN, "max_block_ms": 8000, **config})
    try:
        sent = [producer.send(topic, item.encode()) for item in items]
        producer.flush(WAIT_S)
        for each in sent:
            each.get(WAIT_S)
    finally:
        producer.close(1)


def consumer(group: str, *topics: str, **config: Any) -> KafkaConsumer:
    given = {
        "group_id": group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "session_timeout_ms": 6000,
        "heartbeat_interval_ms": 500,
    }
    return KafkaConsumer(*topics, **{**PLAIN, **given, **config})


def read(client: KafkaConsumer, count: int, seconds: float = 30) -> list[str]:
    found: list[str] = []
    ends = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < ends:
        for records in client.poll(200).values():
            found += [record.value.decode() for record in records]
    assert len(found) >= count, f"{len(found)} of {count}"
    return found


def read_all(topic: str, count: int, **config: Any) -> list[str]:
    client = consumer(topic, topic, **config)
    found = read(client, count)
    client.commit()
    client.close()
    return found


def rule(user: str, topic: str, operation: ka.ACLOperation) -> ka.ACL:
    pattern = ka.ResourcePattern(ka.ResourceType.TOPIC, topic)
    return ka.ACL(f"User:{user}", "*", operation, ka.ACLPermissionType.ALLOW, pattern)


def secure(user: str, mechanism: str, password: str | None = None) -> dict[str, Any]:
    return {
        "bootstrap_servers": SECURE.split(","),
        "security_protocol": "SASL_SSL",
        "ssl_cafile": CA,
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password or PASSWORDS[user],
    }
