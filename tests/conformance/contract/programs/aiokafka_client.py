"""What the programs of aiokafka share: its clients, made and used."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import admin as ka
from harness import BOOTSTRAP, CA, PASSWORDS, SECURE

PLAIN: dict[str, Any] = {"bootstrap_servers": BOOTSTRAP}


async def create(topic: str, partitions: int = 2, login: dict[str, Any] = PLAIN) -> None:
    client = ka.AIOKafkaAdminClient(**login)
    await client.start()
    try:
        await client.create_topics([ka.NewTopic(topic, partitions, 3)])
    finally:
        await client.close()


async def produce(topic: str, items: list[str], **config: Any) -> None:
    async with AIOKafkaProducer(**{**PLAIN, **config}) as producer:
        for sent in [await producer.send(topic, item.encode()) for item in items]:
            await sent


def consumer(group: str, *topics: str, **config: Any) -> AIOKafkaConsumer:
    given = {
        "group_id": group,
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "session_timeout_ms": 6000,
        "heartbeat_interval_ms": 500,
    }
    return AIOKafkaConsumer(*topics, **{**PLAIN, **given, **config})


async def read(client: AIOKafkaConsumer, count: int, seconds: float = 40) -> list[str]:
    found: list[str] = []
    ends = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < ends:
        for records in (await client.getmany(timeout_ms=200)).values():
            found += [record.value.decode() for record in records]
    assert len(found) >= count, f"{len(found)} of {count}"
    return found


async def read_all(topic: str, count: int, **config: Any) -> list[str]:
    async with consumer(topic, topic, **config) as client:
        found = await read(client, count)
        await client.commit()
    return found


async def eventually(check: Callable[[], Coroutine[Any, Any, bool]], what: str) -> None:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        if await check():
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not within 30 s: {what}")


def secure(user: str, mechanism: str, password: str | None = None) -> dict[str, Any]:
    return {
        "bootstrap_servers": SECURE,
        "security_protocol": "SASL_SSL",
        "ssl_context": ssl.create_default_context(cafile=CA),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password or PASSWORDS[user],
    }
