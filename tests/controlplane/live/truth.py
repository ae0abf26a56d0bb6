"""What the brokers have, asked by an Admin client of a user's own: no list and no gateway of ours."""

from collections.abc import Sequence

from confluent_kafka import Consumer, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ConfigResource,
    ConfigSource,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

ASK_S = 15.0
OWN_SETTINGS = (ConfigSource.DYNAMIC_TOPIC_CONFIG, ConfigSource.DYNAMIC_BROKER_CONFIG)


class Truth:
    def __init__(self, bootstrap: str, secret: dict[str, str]) -> None:
        self._bootstrap = bootstrap
        self._secret = secret
        self.admin = self.admin_as(secret)

    def admin_as(self, secret: dict[str, str]) -> AdminClient:
        return AdminClient(self._config(secret))

    def _config(self, secret: dict[str, str]) -> dict[str, str | int]:
        return {
            "bootstrap.servers": self._bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": secret["mechanism"],
            "sasl.username": secret["username"],
            "sasl.password": secret["password"],
            "log_level": 0,
        }

    def make_topic(self, name: str, *, assignment: Sequence[Sequence[int]], **configs: str) -> None:
        """One partition for each of the replica lists."""
        rows = [list(row) for row in assignment]
        topic = NewTopic(name, len(rows), replica_assignment=rows, config=configs)
        self.admin.create_topics([topic], request_timeout=ASK_S)[name].result(ASK_S)

    def controller(self) -> int:
        found: int = self.admin.list_topics(timeout=ASK_S).controller_id
        return found

    def brokers(self) -> set[int]:
        return set(self.admin.list_topics(timeout=ASK_S).brokers)

    def not_in_sync(self) -> list[str]:
        """Partitions with a replica that does not follow."""
        topics = self.admin.list_topics(timeout=ASK_S).topics
        return [
            f"{name}-{number}"
            for name, topic in topics.items()
            for number, row in topic.partitions.items()
            if sorted(row.isrs) != sorted(row.replicas)
        ]

    def replicas(self, topic: str) -> list[list[int]] | None:
        """By partition; None where there is no such topic."""
        found = self.admin.list_topics(timeout=ASK_S).topics.get(topic)
        return found and [found.partitions[number].replicas for number in sorted(found.partitions)]

    def topic_id(self, topic: str) -> str:
        """Changes when a topic is made once more."""
        asked = self.admin.describe_topics(TopicCollection([topic]), request_timeout=ASK_S)
        found = asked[topic].result(ASK_S).topic_id
        return f"{found.get_most_significant_bits()}:{found.get_least_significant_bits()}"

    def settings(self, topic: str) -> dict[str, str]:
        """Those that were set of the topic itself."""
        return self._own(ConfigResource(ConfigResource.Type.TOPIC, topic))

    def broker_settings(self, broker: int) -> dict[str, str]:
        """Those that were set of the broker while it runs."""
        return self._own(ConfigResource(ConfigResource.Type.BROKER, str(broker)))

    def _own(self, resource: ConfigResource) -> dict[str, str]:
        found = self.admin.describe_configs([resource], request_timeout=ASK_S)[resource]
        rows = found.result(ASK_S).values()
        return {
            row.name: row.value
            for row in rows
            if ConfigSource(row.source) in OWN_SETTINGS and row.value
        }

    def mechanisms(self, user: str) -> list[str]:
        """By which the user has a password."""
        try:
            found = self.admin.describe_user_scram_credentials([user], request_timeout=ASK_S)
            infos = found[user].result(ASK_S).scram_credential_infos
        except Exception as error:
            if "RESOURCE_NOT_FOUND" in str(error):
                return []
            raise
        return [info.mechanism.name for info in infos]

    def rules(self, principal: str) -> list[tuple[str, str]]:
        """(resource name, operation) of the principal's ACLs."""
        anything = AclBindingFilter(
            ResourceType.ANY,
            None,
            ResourcePatternType.ANY,
            principal,
            None,
            AclOperation.ANY,
            AclPermissionType.ANY,
        )
        found = self.admin.describe_acls(anything, request_timeout=ASK_S).result(ASK_S)
        return sorted((row.name, row.operation.name) for row in found)

    def committed(self, group: str, topic: str, partitions: int) -> list[int]:
        """By partition; -1001 where nothing is committed."""
        # A consumer that never joins. librdkafka's Admin client (2.16) ends the process with a
        # segmentation fault where ListConsumerGroupOffsets is answered by a coordinator that still
        # loads: rd_kafka_cgrp_op has no group there to look for the coordinator again.
        consumer = Consumer({**self._config(self._secret), "group.id": group})
        try:
            asked = [TopicPartition(topic, number) for number in range(partitions)]
            return [row.offset for row in consumer.committed(asked, timeout=ASK_S)]
        finally:
            consumer.close()
