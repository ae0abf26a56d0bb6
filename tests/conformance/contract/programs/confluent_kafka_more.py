"""The contract's further cases of groups, logins, rules and transactions, by confluent-kafka."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import confluent_kafka as ck
from confluent_kafka import admin as ka
from confluent_kafka_client import admin, consumer, create, produce, read, rule, secure
from harness import BOOTSTRAP, RECORDS, RUN, SETTINGS, eventually, values


def static_members() -> None:
    topic = f"{RUN}-static"
    create(topic, 4)
    changes: list[Any] = []

    def member(instance: str, **callbacks: Any) -> ck.Consumer:
        made = consumer(topic, **{"group.instance.id": instance, "session.timeout.ms": 20_000})
        made.subscribe([topic], **callbacks)
        return made

    one = member("one")
    two = member("two", on_assign=lambda _, given: changes.append(given))

    def shared() -> bool:
        one.poll(0.1)
        two.poll(0.1)
        return len(one.assignment()) == len(two.assignment()) == 2

    eventually(shared, "two partitions each")
    of_one, of_two, before = one.assignment(), two.assignment(), len(changes)
    one.close()
    one = member("one")

    def back() -> bool:
        one.poll(0.1)
        two.poll(0.1)
        assert two.assignment() == of_two
        return bool(one.assignment() == of_one)

    eventually(back, "its partitions are back")
    assert len(changes) == before, "nobody else rebalanced"
    one.close()
    two.close()


def migration() -> None:
    topic, client = f"{RUN}-migration", admin()
    create(topic, 4)
    found: list[str] = []

    def member(protocol: str) -> ck.Consumer:
        known = {"group.protocol": protocol, "enable.auto.commit": True}
        if protocol == "classic":
            known |= {"session.timeout.ms": 6000, "heartbeat.interval.ms": 500}
        made = consumer(topic, **known)
        made.subscribe([topic])
        return made

    def share(label: str, kind: ck.ConsumerGroupType, *members: ck.Consumer) -> None:
        """Every partition has one reader, every member some, and all that is written is read."""

        def shared() -> bool:
            for each in members:
                given = each.consume(RECORDS, 0.1)
                found.extend(item.value().decode() for item in given if not item.error())
            parts = [[part.partition for part in each.assignment()] for each in members]
            return all(parts) and sorted(part for held in parts for part in held) == [0, 1, 2, 3]

        eventually(shared, f"{label}: the partitions are shared")
        listed = client.list_consumer_groups().result(20).valid
        assert {each.type for each in listed if each.group_id == topic} == {kind}, label
        produce(topic, values(label))
        eventually(lambda: shared() and {*values(label)} <= {*found}, f"{label}: its records")

    classic, new = ck.ConsumerGroupType.CLASSIC, ck.ConsumerGroupType.CONSUMER
    one, two = member("classic"), member("classic")
    share("before", classic, one, two)
    three = member("consumer")
    share("begun", new, one, two, three)
    one.close()
    share("half", new, two, three)
    two.close()
    share("rolled", new, three)
    four = member("classic")
    share("back", new, three, four)
    three.close()
    share("after", classic, four)
    four.close()


def bearer(name: str) -> dict[str, Any]:
    login = secure("admin", "OAUTHBEARER")
    del login["sasl.username"], login["sasl.password"]
    token = SETTINGS["tokens"][name]
    return login | {"oauth_cb": lambda _: (token, time.time() + 600)}


def oauthbearer() -> None:
    topic, login = f"{RUN}-oauth", bearer("admin")
    client = admin(login)
    client.poll(0.1)
    create(topic, 1, client)
    produce(topic, values("s"), **login)
    reader = consumer(topic, **login)
    reader.subscribe([topic])
    assert read(reader, RECORDS) == values("s")
    reader.close()
    errors: list[Any] = []
    refused = admin({**bearer("wrong"), "error_cb": errors.append})
    eventually(lambda: refused.poll(0.2) is not None and bool(errors), "the refusal", 15)
    assert any(error.code() == ck.KafkaError._AUTHENTICATION for error in errors)  # noqa: SLF001


def allow(kind: ka.ResourceType, name: str, operation: ka.AclOperation) -> None:
    binding, client = rule("alice", name, operation, kind), admin()
    client.create_acls([binding])[binding].result(20)
    time.sleep(1)


def group_rules() -> None:
    topic, alice = f"{RUN}-aclgroup", secure("alice", "SCRAM-SHA-256")
    create(topic, 1)
    produce(topic, values("a"))
    allow(ka.ResourceType.TOPIC, topic, ka.AclOperation.READ)
    reader = consumer(topic, **alice)
    reader.subscribe([topic])
    refused: list[int] = []

    def denied() -> bool:
        message = reader.poll(0.2)
        if message is not None and message.error():
            refused.append(message.error().code())
        return bool(refused)

    eventually(denied, "an answer")
    reader.close()
    assert refused == [ck.KafkaError.GROUP_AUTHORIZATION_FAILED]
    allow(ka.ResourceType.GROUP, topic, ka.AclOperation.READ)
    reader = consumer(topic, **alice)
    reader.subscribe([topic])
    assert read(reader, RECORDS) == values("a")
    reader.commit(asynchronous=False)
    reader.close()


def transactional_id_rules() -> None:
    name = f"{RUN}-aclid"
    alice = {**secure("alice", "SCRAM-SHA-256"), "transactional.id": name}
    refused: list[int] = []
    try:
        ck.Producer(alice).init_transactions(20)
    except ck.KafkaException as error:
        refused.append(error.args[0].code())
    assert refused == [ck.KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]
    allow(ka.ResourceType.TRANSACTIONAL_ID, name, ka.AclOperation.WRITE)
    ck.Producer(alice).init_transactions(20)


def transaction_offsets() -> None:
    source = f"{RUN}-chain"
    target = f"{source}-out"
    create(source, 1)
    create(target, 1)
    produce(source, values("x"))
    partition = ck.TopicPartition(source, 0, RECORDS)
    reader = consumer(source, **{"isolation.level": "read_committed"})
    reader.subscribe([source])
    producer = ck.Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": source})
    producer.init_transactions(30)
    for end in ("abort", "commit"):
        taken = read(reader, RECORDS)
        producer.begin_transaction()
        for each in taken:
            producer.produce(target, each.upper())
        producer.send_offsets_to_transaction([partition], reader.consumer_group_metadata(), 30)
        getattr(producer, f"{end}_transaction")(30)
        (committed,) = reader.committed([ck.TopicPartition(source, 0)], 10)
        assert committed.offset == (RECORDS if end == "commit" else ck.OFFSET_INVALID)
        reader.seek(ck.TopicPartition(source, 0, 0))
    reader.close()
    reader = consumer(target, **{"isolation.level": "read_committed"})
    reader.subscribe([target])
    assert read(reader, RECORDS) == [each.upper() for each in values("x")]
    reader.close()


MORE: dict[str, Callable[[], None]] = {
    "group.static": static_members,
    "group.migration": migration,
    "sasl.oauthbearer": oauthbearer,
    "acl.groups": group_rules,
    "acl.transactional_ids": transactional_id_rules,
    "txn.offsets": transaction_offsets,
}
