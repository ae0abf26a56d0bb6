"""The contract's cases of the administrator, by confluent-kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import confluent_kafka as ck
from confluent_kafka import admin as ka
from confluent_kafka_client import admin, consumer, create, produce, read, secure
from harness import RECORDS, RUN, eventually, values


def made(name: str) -> ck.TopicPartition:
    create(f"{RUN}-{name}", 1)
    return ck.TopicPartition(f"{RUN}-{name}", 0)


def read_all(topic: str, count: int) -> list[str]:
    reader = consumer(topic)
    reader.subscribe([topic])
    found = read(reader, count)
    reader.commit(asynchronous=False)
    reader.close()
    return found


def records() -> None:
    partition, client = made("records"), admin()
    produce(partition.topic, values("r"))
    asked = ck.TopicPartition(partition.topic, 0, 20)
    assert client.delete_records([asked])[asked].result(20).low_watermark == 20
    earliest = client.list_offsets({partition: ka.OffsetSpec.earliest()})[partition].result(20)
    latest = client.list_offsets({partition: ka.OffsetSpec.latest()})[partition].result(20)
    newest = client.list_offsets({partition: ka.OffsetSpec.max_timestamp()})[partition].result(20)
    assert (earliest.offset, latest.offset) == (20, RECORDS)
    assert newest.offset >= 20
    assert read_all(partition.topic, RECORDS - 20) == values("r")[20:]


def elect() -> None:
    # The client moves no replicas: the preferred one leads, and Kafka's answer is that none is needed.
    partition, client = made("elect"), admin()
    answer = client.elect_leaders(ck.ElectionType.PREFERRED, [partition]).result(20)
    error = answer[partition]
    assert error is None or error.code() == ck.KafkaError.ELECTION_NOT_NEEDED, error


def scram() -> None:
    user, client = f"{RUN}-user", admin()
    info = ka.ScramCredentialInfo(ka.ScramMechanism.SCRAM_SHA_256, 4096)
    change = ka.UserScramCredentialUpsertion(user, info, b"pass-1")
    client.alter_user_scram_credentials([change])[user].result(20)

    def seen() -> Any:
        found = client.describe_user_scram_credentials([user])[user].result(20)
        return [(each.mechanism, each.iterations) for each in found.scram_credential_infos]

    eventually(lambda: seen() == [(info.mechanism, 4096)], "the user")
    login = secure(user, "SCRAM-SHA-256", "pass-1")
    eventually(lambda: logs_in(login), "the user logs in")
    gone = ka.UserScramCredentialDeletion(user, ka.ScramMechanism.SCRAM_SHA_256)
    client.alter_user_scram_credentials([gone])[user].result(20)
    eventually(lambda: not logs_in(login), "the user is refused")


def logs_in(login: dict[str, Any]) -> bool:
    """Whether it does; AssertionError for another answer than that it may not."""
    errors: list[ck.KafkaError] = []
    client = admin({**login, "error_cb": errors.append})
    try:
        client.describe_cluster(request_timeout=4).result(5)
    except ck.KafkaException:
        client.poll(0)
        assert any(each.code() == ck.KafkaError._AUTHENTICATION for each in errors)  # noqa: SLF001
        return False
    return True


def offsets() -> None:
    partition, client = made("offsets"), admin()
    group = partition.topic
    produce(group, values("o"))
    read_all(group, RECORDS)
    wanted = ck.ConsumerGroupTopicPartitions(group, [ck.TopicPartition(group, 0, 10)])
    client.alter_consumer_group_offsets([wanted])[group].result(20)
    asked = ck.ConsumerGroupTopicPartitions(group)
    found = client.list_consumer_group_offsets([asked])[group].result(20)
    assert [each.offset for each in found.topic_partitions] == [10]
    assert read_all(group, RECORDS - 10) == values("o")[10:]


def cluster() -> None:
    client = admin()
    found = client.describe_cluster(include_authorized_operations=True).result(20)
    assert len(found.nodes) == 3
    assert found.controller.id in {node.id for node in found.nodes}
    assert len(found.cluster_id) == 22
    assert ka.AclOperation.CLUSTER_ACTION in found.authorized_operations


ADMIN: dict[str, Callable[[], None]] = {
    "admin.offsets": offsets,
    "admin.records": records,
    "admin.elect": elect,
    "admin.scram": scram,
    "admin.cluster": cluster,
}
