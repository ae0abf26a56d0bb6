"""Consumer groups, their offsets, transactions."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.config.keys.declare import (
    CLUSTER,
    DAY_MS,
    MAX_INT,
    MIB,
    TENANT,
    flag,
    hidden,
    long,
    names,
    number,
    short,
    text,
)

if TYPE_CHECKING:
    from dataplane.config.key import Value

MIGRATION_POLICIES = ("disabled", "downgrade", "upgrade", "bidirectional")


def _migration_policy(value: Value) -> None:
    if not isinstance(value, str) or value.lower() not in MIGRATION_POLICIES:
        raise ValueError("Value must be one of " + ", ".join(MIGRATION_POLICIES))


KEYS = (
    number(
        "group.min.session.timeout.ms",
        6_000,
        "Shortest session timeout.",
        scope=TENANT,
        tenant_least=1_000,
    ),
    number(
        "group.max.session.timeout.ms",
        1_800_000,
        "Longest session timeout.",
        scope=TENANT,
        tenant_least=1_000,
        tenant_most=DAY_MS,
    ),
    number(
        "group.initial.rebalance.delay.ms",
        3_000,
        "How long an empty group waits for more members.",
        least=0,
        scope=TENANT,
        tenant_most=60_000,
    ),
    number("group.max.size", MAX_INT, "Members of a group.", least=1, scope=TENANT),
    names(
        "group.coordinator.rebalance.protocols",
        ("classic", "consumer"),
        "Group protocols served. Kafka 3.9 serves classic alone by default, Kafka 4 both.",
        choices=("classic", "consumer"),
    ),
    number(
        "group.consumer.session.timeout.ms", 45_000, "Session timeout of KIP-848 members.", least=1
    ),
    number("group.consumer.min.session.timeout.ms", 45_000, "Shortest of these.", least=1),
    number("group.consumer.max.session.timeout.ms", 60_000, "Longest of these.", least=1),
    number(
        "group.consumer.heartbeat.interval.ms",
        5_000,
        "Heartbeat interval of KIP-848 members.",
        least=1,
    ),
    number("group.consumer.min.heartbeat.interval.ms", 5_000, "Shortest of these.", least=1),
    number("group.consumer.max.heartbeat.interval.ms", 15_000, "Longest of these.", least=1),
    number("group.consumer.max.size", MAX_INT, "Members of a KIP-848 group.", least=1),
    names(
        "group.consumer.assignors",
        (
            "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
            "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
        ),
        "Assignors of KIP-848 groups, by name or Kafka's class; the first is used unless asked.",
        choices=(
            "uniform",
            "range",
            "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
            "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
        ),
    ),
    dataclasses.replace(
        hidden(
            text(
                "group.consumer.migration.policy",
                "bidirectional",
                "Which way groups change their protocol while they have members; case does not "
                "matter. Kafka 3.9: disabled by default, Kafka 4: both ways.",
            )
        ),
        check=_migration_policy,
    ),
    number(
        "group.consumer.regex.refresh.interval.ms",
        600_000,
        "How often the topics of a regular expression are looked at again for changed rights.",
        least=10_000,
    ),
    number(
        "offset.metadata.max.bytes",
        4_096,
        "Longest metadata of a committed offset.",
        scope=TENANT,
        tenant_least=0,
        tenant_most=64 * 1024,
    ),
    number(
        "offsets.load.buffer.size", 5 * MIB, "Bytes read at once when a coordinator loads.", least=1
    ),
    short(
        "offsets.topic.replication.factor",
        3,
        "Replicas of __consumer_offsets.",
        least=1,
        scope=TENANT,
        tenant_most=30,
    ),
    number(
        "offsets.topic.num.partitions",
        50,
        "Partitions of __consumer_offsets.",
        least=1,
        scope=TENANT,
        tenant_most=200,
    ),
    number(
        "offsets.topic.segment.bytes",
        100 * MIB,
        "Segment size of __consumer_offsets.",
        least=1,
        scope=TENANT,
        tenant_least=MIB,
    ),
    number("offsets.topic.compression.codec", 0, "Codec of __consumer_offsets."),
    number(
        "offsets.retention.minutes",
        10_080,
        "How long offsets of an empty group stay.",
        least=1,
        scope=TENANT,
    ),
    long(
        "offsets.retention.check.interval.ms",
        600_000,
        "How often expiry of offsets is checked.",
        least=1,
    ),
    number("offsets.commit.timeout.ms", 5_000, "How long a commit waits for replicas.", least=1),
    short("offsets.commit.required.acks", -1, "Acks of a commit; only -1 has an effect."),
    number(
        "transaction.max.timeout.ms", 900_000, "Longest transaction timeout.", least=1, scope=TENANT
    ),
    number(
        "transactional.id.expiration.ms",
        604_800_000,
        "When an idle transactional id is forgotten.",
        least=1,
        scope=TENANT,
    ),
    number(
        "transaction.state.log.load.buffer.size",
        5 * MIB,
        "Bytes read at once when a coordinator loads.",
        least=1,
    ),
    short(
        "transaction.state.log.replication.factor",
        3,
        "Replicas of __transaction_state.",
        least=1,
        scope=TENANT,
        tenant_most=30,
    ),
    number(
        "transaction.state.log.num.partitions",
        50,
        "Partitions of __transaction_state.",
        least=1,
        scope=TENANT,
        tenant_most=200,
    ),
    number(
        "transaction.state.log.segment.bytes",
        100 * MIB,
        "Segment size of __transaction_state.",
        least=1,
        scope=TENANT,
        tenant_least=MIB,
    ),
    number(
        "transaction.state.log.min.isr",
        2,
        "In-sync replicas that __transaction_state needs.",
        least=1,
        scope=TENANT,
        tenant_most=30,
    ),
    number(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        10_000,
        "How often timed-out transactions are aborted.",
        least=1,
    ),
    number(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        3_600_000,
        "How often expired ids are removed.",
        least=1,
    ),
    flag(
        "transaction.partition.verification.enable",
        True,
        "Whether leaders verify a transaction before its first write.",
        dynamic=CLUSTER,
    ),
)
