"""A cluster of 10,000 topics, 100,000 partitions and 5,000 groups in memory, as a gateway."""

from collections.abc import Collection

from controlplane.gateway.fake import FakeGateway, FakePartition, FakeTopic
from controlplane.gateway.types import TP, AclBinding, ReplicaSize

TOPICS, PARTITIONS, GROUPS, USERS, ACLS = 10_000, 10, 5_000, 200, 2_000
BROKERS, REPLICAS, COMMITTED = 20, 3, 10


class LargeCluster(FakeGateway):
    """Its sizes are kept by broker: the fake's own way asks every partition for every broker."""

    def __init__(self) -> None:
        super().__init__(brokers=BROKERS)
        for index in range(TOPICS):
            self.topics[topic_name(index)] = FakeTopic(
                topic_id=f"00000000-0000-0000-0000-{index:012d}",
                partitions=[self._partition(index, part) for part in range(PARTITIONS)],
                configs={"retention.ms": "86400000"} if index % 3 else {},
            )
        for index in range(GROUPS):
            topic = topic_name(index * TOPICS // GROUPS)
            offsets = {TP(topic, part): 900 for part in range(COMMITTED)}
            self.add_group(group_name(index), offsets, members=3, coordinator=index % BROKERS + 1)
        for index in range(USERS):
            self.users[f"user-{index}", "SCRAM-SHA-512"] = "secret"
        self.acls = {
            AclBinding(
                principal=f"User:user-{index % USERS}",
                host="*",
                operation="READ",
                permission="ALLOW",
                resource_type="TOPIC",
                resource_name=topic_name(index),
                pattern_type="LITERAL",
            )
            for index in range(ACLS)
        }

    @staticmethod
    def _partition(topic: int, part: int) -> FakePartition:
        first = topic + part
        return FakePartition(
            replicas=tuple((first + step) % BROKERS + 1 for step in range(REPLICAS)),
            log_end=1_000,
        )

    def log_dirs(
        self, topics: Collection[str] | None = None, *, brokers: Collection[int] | None = None
    ) -> list[ReplicaSize]:
        names = self.topics if topics is None else [name for name in topics if name in self.topics]
        asked = set(self.brokers if brokers is None else brokers)
        return [
            ReplicaSize(
                broker=broker,
                log_dir="/data",
                tp=TP(name, index),
                size_bytes=part.size_bytes,
                offset_lag=0,
            )
            for name in names
            for index, part in enumerate(self.topics[name].partitions)
            for broker in part.replicas
            if broker in asked
        ]

    def write_everywhere(self) -> None:
        """One record to every partition: every row of the lists differs."""
        for topic in self.topics.values():
            for part in topic.partitions:
                part.log_end += 1


def topic_name(index: int) -> str:
    return f"team-{index % 40:02d}.stream-{index:05d}"


def group_name(index: int) -> str:
    return f"team-{index % 40:02d}.reader-{index:05d}"
