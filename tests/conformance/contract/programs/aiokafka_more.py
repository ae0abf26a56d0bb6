"""The contract's further cases, by aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import kafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka import admin as ka
from aiokafka import errors as ke
from aiokafka.abc import AbstractTokenProvider
from aiokafka_client import PLAIN, consumer, create, eventually, produce, read, read_all, secure
from harness import BOOTSTRAP, RECORDS, RUN, SETTINGS, values
from kafka import admin as kafka_admin


async def static_members() -> None:
    topic = f"{RUN}-static"
    await create(topic, 4)

    async def member(instance: str) -> AIOKafkaConsumer:
        made = consumer(topic, topic, group_instance_id=instance, session_timeout_ms=20_000)
        await made.start()
        return made

    one, two = await asyncio.gather(member("one"), member("two"))

    async def shared() -> bool:
        await asyncio.gather(one.getmany(timeout_ms=50), two.getmany(timeout_ms=50))
        return len(one.assignment()) == len(two.assignment()) == 2

    await eventually(shared, "two partitions each")
    of_one, of_two = one.assignment(), two.assignment()
    await one.stop()
    one = await member("one")

    async def back() -> bool:
        await asyncio.gather(one.getmany(timeout_ms=50), two.getmany(timeout_ms=50))
        assert two.assignment() == of_two
        return bool(one.assignment() == of_one)

    await eventually(back, "its partitions are back")
    await asyncio.gather(one.stop(), two.stop())


async def records() -> None:
    topic, client = f"{RUN}-records", ka.AIOKafkaAdminClient(**PLAIN)
    await create(topic, 1)
    # What all replicas have may be deleted; the client asks for acks=1 by itself.
    await produce(topic, values("r"), acks="all")
    partition = TopicPartition(topic, 0)
    await client.start()
    await client.delete_records({partition: ka.RecordsToDelete(before_offset=20)})
    await client.close()
    async with consumer(topic) as reader:
        assert await reader.beginning_offsets([partition]) == {partition: 20}
        assert await reader.end_offsets([partition]) == {partition: RECORDS}
    assert await read_all(topic, RECORDS - 20) == values("r")[20:]


async def cluster() -> None:
    client = ka.AIOKafkaAdminClient(**PLAIN)
    await client.start()
    found = await client.describe_cluster()
    await client.close()
    assert len(found["brokers"]) == 3
    assert len(found["cluster_id"]) == 22


class Given(AbstractTokenProvider):
    """The token that the contract has for a name."""

    def __init__(self, name: str) -> None:
        self._token = SETTINGS["tokens"][name]

    async def token(self) -> str:
        return str(self._token)


def bearer(name: str) -> dict[str, Any]:
    login = secure("admin", "OAUTHBEARER")
    del login["sasl_plain_username"], login["sasl_plain_password"]
    return login | {"sasl_oauth_token_provider": Given(name)}


async def oauthbearer() -> None:
    topic, login = f"{RUN}-oauth", bearer("admin")
    await create(topic, 1, login)
    await produce(topic, values("s"), **login)
    assert await read_all(topic, RECORDS, **login) == values("s")
    refused: list[str] = []
    try:
        await create(f"{topic}-wrong", 1, bearer("wrong"))
    except (ke.KafkaError, ValueError) as error:
        refused.append(type(error).__name__)
    assert refused, "a token for another service was taken"


async def allow(kind: str, name: str, operation: str) -> None:
    """The client has no call for it: the rule is made by another's."""
    other = kafka.KafkaAdminClient(bootstrap_servers=BOOTSTRAP.split(","))
    pattern = kafka_admin.ResourcePattern(kafka_admin.ResourceType[kind], name)
    permission = kafka_admin.ACLPermissionType.ALLOW
    wanted = kafka_admin.ACLOperation[operation]
    other.create_acls([kafka_admin.ACL("User:alice", "*", wanted, permission, pattern)])
    other.close()
    await asyncio.sleep(1)


async def group_rules() -> None:
    topic, alice = f"{RUN}-aclgroup", secure("alice", "SCRAM-SHA-256")
    await create(topic, 1)
    await produce(topic, values("a"))
    await allow("TOPIC", topic, "READ")
    refused: list[str] = []
    try:
        await asyncio.wait_for(read_all(topic, RECORDS, **alice), 20)
    except ke.GroupAuthorizationFailedError as error:
        refused.append(type(error).__name__)
    assert refused, "it was not denied"
    await allow("GROUP", topic, "READ")
    assert await read_all(topic, RECORDS, **alice) == values("a")


async def transactional_id_rules() -> None:
    name = f"{RUN}-aclid"
    alice = {**secure("alice", "SCRAM-SHA-256"), "transactional_id": name}
    refused: list[str] = []
    producer = AIOKafkaProducer(**alice)
    try:
        await asyncio.wait_for(producer.start(), 20)
    except ke.TransactionalIdAuthorizationFailed as error:
        refused.append(type(error).__name__)
    finally:
        await producer.stop()
    assert refused, "it was not denied"
    await allow("TRANSACTIONAL_ID", name, "WRITE")
    async with AIOKafkaProducer(**alice):
        pass


async def transaction_offsets() -> None:
    source = f"{RUN}-chain"
    target = f"{source}-out"
    await create(source, 1)
    await create(target, 1)
    await produce(source, values("x"))
    partition = TopicPartition(source, 0)
    async with (
        consumer(source, source, isolation_level="read_committed") as reader,
        AIOKafkaProducer(**PLAIN, transactional_id=source) as producer,
    ):
        for end in ("abort", "commit"):
            taken = await read(reader, RECORDS)
            await producer.begin_transaction()
            for each in taken:
                await producer.send(target, each.upper().encode())
            await producer.send_offsets_to_transaction({partition: RECORDS}, source)
            await getattr(producer, f"{end}_transaction")()
            if end == "abort":
                assert await reader.committed(partition) is None
                reader.seek(partition, 0)

        async def committed() -> bool:
            # The client does not ask for stable offsets: the marker may be under way.
            return await reader.committed(partition) == RECORDS

        await eventually(committed, "the offset is committed")
    found = await read_all(target, RECORDS, isolation_level="read_committed")
    assert found == [each.upper() for each in values("x")]


MORE: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
    "group.static": static_members,
    "admin.records": records,
    "admin.cluster": cluster,
    "sasl.oauthbearer": oauthbearer,
    "acl.groups": group_rules,
    "acl.transactional_ids": transactional_id_rules,
    "txn.offsets": transaction_offsets,
}
