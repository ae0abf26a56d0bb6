"""aiokafka: old, non-flexible versions throughout."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.local_cluster import LocalCluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


async def consume(bootstrap: str, topic: str, group: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    try:
        values = [(await asyncio.wait_for(consumer.getone(), 30)).value for _ in range(count)]
        await consumer.commit()
    finally:
        await consumer.stop()
    return values


async def test_produce_consume_commit_resume(cluster: LocalCluster, topic: str, group: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=3)])
    producer = AIOKafkaProducer(
        bootstrap_servers=cluster.bootstrap, acks="all", enable_idempotence=True
    )
    await producer.start()
    try:
        for number in range(200):
            await producer.send(topic, b"v%d" % number, key=b"k%d" % (number % 5))
        await producer.flush()
        values = await consume(cluster.bootstrap, topic, group, 200)
        assert sorted(values) == sorted(b"v%d" % n for n in range(200))
        await producer.send_and_wait(topic, b"last")
        assert await consume(cluster.bootstrap, topic, group, 1) == [b"last"]
    finally:
        await producer.stop()
        await admin.close()
