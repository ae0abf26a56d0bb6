"""Replication, leadership, throttles, delayed operations."""

from __future__ import annotations

from dataplane.config.key import ConfigKey, ConfigType
from dataplane.config.keys.declare import (
    CLUSTER,
    MAX_LONG,
    MIB,
    PER_BROKER,
    TENANT,
    flag,
    long,
    number,
)

KEYS = (
    number(
        "min.insync.replicas",
        1,
        "In-sync replicas that acks=all needs.",
        least=1,
        dynamic=CLUSTER,
        scope=TENANT,
        tenant_most=30,
    ),
    long(
        "replica.lag.time.max.ms",
        30_000,
        "How long a replica may trail and stay in sync.",
        scope=TENANT,
        tenant_least=5_000,
        tenant_most=600_000,
    ),
    number("num.replica.fetchers", 1, "Fetchers per source broker.", least=1, dynamic=CLUSTER),
    number("replica.fetch.max.bytes", MIB, "Bytes per partition in a follower's fetch.", least=0),
    number(
        "replica.fetch.response.max.bytes", 10 * MIB, "Bytes in the answer to a follower.", least=0
    ),
    number("replica.fetch.min.bytes", 1, "Bytes for which a follower's fetch waits."),
    number("replica.fetch.wait.max.ms", 500, "How long a follower's fetch waits."),
    number("replica.fetch.backoff.ms", 1_000, "Pause of a partition whose fetch failed.", least=0),
    number("replica.socket.timeout.ms", 30_000, "How long a follower waits for an answer."),
    # A fixed size turns the system's autotuning off; see socket.receive.buffer.bytes.
    number(
        "replica.socket.receive.buffer.bytes",
        -1,
        "SO_RCVBUF of followers; -1 is the system's autotuning (Kafka's default: 65536).",
        least=-1,
    ),
    long(
        "replica.high.watermark.checkpoint.interval.ms",
        5_000,
        "How often high watermarks are saved.",
    ),
    ConfigKey(
        "replica.selector.class",
        ConfigType.STRING,
        None,
        "Who says which replica a consumer reads from; the leader if nobody does.",
        choices=(
            "org.apache.kafka.common.replica.LeaderSelector",
            "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        ),
        scope=TENANT,
    ),
    flag(
        "unclean.leader.election.enable",
        False,
        "Whether a replica out of sync may lead when none is in sync.",
        dynamic=CLUSTER,
        scope=TENANT,
    ),
    flag(
        "auto.leader.rebalance.enable",
        True,
        "Whether leadership returns to preferred leaders.",
        scope=TENANT,
    ),
    number(
        "leader.imbalance.per.broker.percentage",
        10,
        "Imbalance that starts a return.",
        scope=TENANT,
        tenant_least=0,
        tenant_most=100,
    ),
    long(
        "leader.imbalance.check.interval.seconds",
        300,
        "How often imbalance is checked.",
        least=1,
        scope=TENANT,
        tenant_least=30,
    ),
    long(
        "leader.replication.throttled.rate",
        MAX_LONG,
        "Bytes per second that leaders send to throttled replicas.",
        least=0,
        dynamic=PER_BROKER,
    ),
    long(
        "follower.replication.throttled.rate",
        MAX_LONG,
        "Bytes per second that throttled followers fetch.",
        least=0,
        dynamic=PER_BROKER,
    ),
    long(
        "replica.alter.log.dirs.io.max.bytes.per.second",
        MAX_LONG,
        "Throttle of moves between log directories.",
        least=0,
        dynamic=PER_BROKER,
    ),
    number("replication.quota.window.num", 11, "Samples kept for replication quotas.", least=1),
    number(
        "replication.quota.window.size.seconds", 1, "Length of a replication quota sample.", least=1
    ),
    number(
        "num.replica.alter.log.dirs.threads",
        None,
        "Workers that move replicas between directories.",
    ),
    number("fetch.purgatory.purge.interval.requests", 1_000, "When completed waits are swept."),
    number("producer.purgatory.purge.interval.requests", 1_000, "When completed waits are swept."),
    number(
        "delete.records.purgatory.purge.interval.requests", 1, "When completed waits are swept."
    ),
)
