"""Leadership moved on purpose: another replica first, then an election of the preferred one."""

from __future__ import annotations

import contextlib

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from dataplane.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.faults.chains.watchers import asking
from tests.faults.cluster import FaultCluster
from tests.local_cluster import eventually

MOVED_MAX_S = 30.0


def move_leader(cluster: FaultCluster, topic: str, partition: int) -> int:
    """Blocking until another broker leads that partition; answers which."""
    before = cluster.leader_of(topic, partition)
    order = [*[broker for broker in cluster.ids if broker != before], before]
    wanted = ReassignableTopic(
        name=topic,
        partitions=[ReassignablePartition(partition_index=partition, replicas=order)],
    )
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for _ in eventually(MOVED_MAX_S, f"another leader of {topic}-{partition} than {before}"):
        with contextlib.suppress(OSError), asking(cluster.address(cluster.controller())) as asked:
            asked.ask(AlterPartitionReassignmentsRequest(topics=[wanted]), 0)
        with contextlib.suppress(KafkaException):
            moved = [TopicPartition(topic, partition)]
            admin.elect_leaders(ElectionType.PREFERRED, moved).result(10)
        now = cluster.leader_of(topic, partition)
        if now not in (before, -1):
            return now
    raise AssertionError
