"""What the programs of confluent-kafka share: its clients, made and used."""

from __future__ import annotations

import time
from typing import Any

import confluent_kafka as ck
from confluent_kafka import admin as ka
from harness import BOOTSTRAP, CA, PASSWORDS, SECURE


def admin(config: dict[str, Any] | None = None) -> ka.AdminClient:
    return ka.AdminClient(config or {"bootstrap.servers": BOOTSTRAP})


def create(topic: str, partitions: int = 2, client: ka.AdminClient | None = None) -> None:
    client = client or admin()  # held until the answer is there
    client.create_topics([ka.NewTopic(topic, partitions, 3)])[topic].result(20)


def produce(topic: str, items: list[str], **config: Any) -> None:
    errors: list[object] = []
    producer = ck.Producer({"bootstrap.servers": BOOTSTRAP, "message.timeout.ms": 10_000, **config})
    for item in items:
        producer.produce(topic, item, on_delivery=lambda e, _m: errors.append(e) if e else None)
    assert producer.flush(20) == 0
    if errors:
        raise ck.KafkaException(errors[0])


def consumer(group: str, **config: Any) -> ck.Consumer:
    # In the new protocol the session is the brokers' to set.
    session = {} if "group.protocol" in config else {"session.timeout.ms": 6000}
    return ck.Consumer(
        {
            "bootstrap.servers": BOOTSTRAP,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **session,
            **config,
        }
    )


def read(client: ck.Consumer, count: int, seconds: float = 30) -> list[str]:
    found: list[str] = []
    ends = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < ends:
        message = client.poll(0.2)
        if message is not None and not message.error():
            found.append(message.value().decode())
    assert len(found) >= count, f"{len(found)} of {count}"
    return found


def rule(user: str, name: str, operation: Any, kind: Any = ka.ResourceType.TOPIC) -> ka.AclBinding:
    return ka.AclBinding(
        kind,
        name,
        ka.ResourcePatternType.LITERAL,
        f"User:{user}",
        "*",
        operation,
        ka.AclPermissionType.ALLOW,
    )


def secure(user: str, mechanism: str, password: str | None = None) -> dict[str, Any]:
    return {
        "bootstrap.servers": SECURE,
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": CA,
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password or PASSWORDS[user],
    }
