"""The contract by aiokafka."""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
from collections.abc import Callable, Coroutine
from typing import Any

import aiokafka
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka import admin as ka
from aiokafka import errors as ke
from aiokafka_client import PLAIN, consumer, create, eventually, produce, read, read_all, secure
from aiokafka_more import MORE, allow
from harness import CODECS, MECHANISMS, RECORDS, RUN, run, values


async def produce_with(codec: str) -> None:
    topic = f"{RUN}-{codec}"
    await create(topic)
    expected = []
    for acks in (0, 1, "all"):
        await produce(
            topic,
            values(f"a{acks}"),
            acks=acks,
            compression_type=None if codec == "none" else codec,
        )
        expected += values(f"a{acks}")
    assert sorted(await read_all(topic, 3 * RECORDS)) == sorted(expected)


async def idempotent() -> None:
    topic = f"{RUN}-idempotent"
    await create(topic, 1)
    await produce(topic, values("i"), enable_idempotence=True)
    assert await read_all(topic, RECORDS) == values("i")


async def join_leave() -> None:
    topic = f"{RUN}-group"
    await create(topic, 4)
    one, two = consumer(topic, topic), consumer(topic, topic)
    await asyncio.gather(one.start(), two.start())

    async def shared() -> bool:
        await asyncio.gather(one.getmany(timeout_ms=50), two.getmany(timeout_ms=50))
        return len(one.assignment()) == len(two.assignment()) == 2

    async def alone() -> bool:
        await one.getmany(timeout_ms=50)
        return len(one.assignment()) == 4

    await eventually(shared, "two partitions each")
    await two.stop()
    await eventually(alone, "all partitions")
    await produce(topic, values("g"))
    assert sorted(await read(one, RECORDS)) == sorted(values("g"))
    await one.stop()


def read_and_hang(topic: str) -> None:
    async def work() -> None:
        reader = consumer(topic, topic, max_poll_records=20)
        await reader.start()
        assert len(await read(reader, 20)) == 20
        await reader.commit({TopicPartition(topic, 0): 20})
        await asyncio.sleep(600)

    asyncio.run(work())


async def crash() -> None:
    topic = f"{RUN}-crash"
    await create(topic, 1)
    await produce(topic, values("c"))
    child = multiprocessing.get_context("spawn").Process(target=read_and_hang, args=(topic,))
    child.start()
    async with consumer(topic) as watcher:

        async def committed() -> bool:
            return await watcher.committed(TopicPartition(topic, 0)) == 20

        await eventually(committed, "the member has committed")
    child.kill()
    child.join()
    assert await read_all(topic, RECORDS - 20) == values("c")[20:]


async def topics() -> None:
    topic, client = f"{RUN}-topics", ka.AIOKafkaAdminClient(**PLAIN)
    await create(topic, 2)
    await client.start()
    await client.create_partitions({topic: ka.NewPartitions(3)})

    async def grown() -> bool:
        return len((await client.describe_topics([topic]))[0]["partitions"]) == 3

    async def gone() -> bool:
        return topic not in await client.list_topics()

    await eventually(grown, "three partitions")
    await client.delete_topics([topic])
    await eventually(gone, "it is gone")
    await client.close()


async def configs() -> None:
    topic, client = f"{RUN}-configs", ka.AIOKafkaAdminClient(**PLAIN)
    await create(topic)
    await client.start()
    kind = ka.config_resource.ConfigResourceType.TOPIC
    resource = ka.config_resource.ConfigResource

    async def retention() -> str:
        (answer,) = await client.describe_configs([resource(kind, topic)])
        return next(row[1] for row in answer.resources[0][4] if row[0] == "retention.ms")

    async def changed() -> bool:
        return await retention() == "1000"

    assert await retention() == "604800000"
    await client.alter_configs([resource(kind, topic, {"retention.ms": "1000"})])
    await eventually(changed, "the new value")
    await client.close()


async def groups() -> None:
    topic, client = f"{RUN}-groups", ka.AIOKafkaAdminClient(**PLAIN)
    await create(topic, 1)
    await produce(topic, values("a"))
    await read_all(topic, RECORDS)
    await client.start()
    assert topic in {name for name, _kind in await client.list_consumer_groups()}
    assert "Empty" in str(await client.describe_consumer_groups([topic]))
    offsets = await client.list_consumer_group_offsets(topic)
    assert offsets[TopicPartition(topic, 0)].offset == RECORDS
    await client.close()


async def sasl(mechanism: str) -> None:
    topic, login = f"{RUN}-{mechanism}", secure("admin", mechanism)
    await create(topic, 1, login)
    await produce(topic, values("s"), **login)
    assert await read_all(topic, RECORDS, **login) == values("s")
    refused: list[str] = []
    try:
        await create(f"{topic}-wrong", 1, secure("admin", mechanism, "wrong"))
    except (ke.KafkaError, ValueError) as error:
        refused.append(type(error).__name__)
    assert refused, "a wrong password was taken"


async def denied_and_allowed() -> None:
    topic, alice = f"{RUN}-acl", secure("alice", "SCRAM-SHA-256")
    await create(topic, 1)
    refused: list[str] = []
    try:
        await produce(topic, ["x"], **alice)
    except ke.TopicAuthorizationFailedError as error:
        refused.append(type(error).__name__)
    assert refused, "it was not denied"
    await allow("TOPIC", topic, "WRITE")
    await produce(topic, ["x"], **alice)


async def transactions() -> None:
    topic = f"{RUN}-txn"
    await create(topic, 1)
    async with AIOKafkaProducer(**PLAIN, transactional_id=topic) as producer:
        for label, end in (("kept", "commit"), ("dropped", "abort"), ("last", "commit")):
            await producer.begin_transaction()
            for item in values(label):
                await producer.send(topic, item.encode())
            await producer.flush()
            await getattr(producer, f"{end}_transaction")()
    found = await read_all(topic, 2 * RECORDS, isolation_level="read_committed")
    assert found == values("kept") + values("last")


CASES: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
    **{f"produce.{codec}": functools.partial(produce_with, codec) for codec in CODECS},
    "produce.idempotent": idempotent,
    "group.join_leave": join_leave,
    "group.crash": crash,
    "admin.topics": topics,
    "admin.configs": configs,
    "admin.groups": groups,
    **{name: functools.partial(sasl, mechanism) for name, mechanism in MECHANISMS.items()},
    "acl.denied_allowed": denied_and_allowed,
    "txn.commit_abort": transactions,
    **MORE,
}

if __name__ == "__main__":
    run(
        aiokafka.__version__,
        {name: lambda case=case: asyncio.run(case()) for name, case in CASES.items()},
    )
