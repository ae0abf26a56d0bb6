"""Identity, listeners, sockets, requests, ZooKeeper."""

from __future__ import annotations

import dataclasses

from dataplane.config.addresses import check_connections_by_address
from dataplane.config.key import ConfigKey, ConfigType
from dataplane.config.keys.declare import (
    CLUSTER,
    INTERNAL,
    MAX_INT,
    MIB,
    PER_BROKER,
    TENANT,
    flag,
    long,
    names,
    number,
    text,
    unsupported_class,
)
from dataplane.config.keys.versions import check_spoken
from dataplane.config.release import NEWEST_PROTOCOL

KEYS = (
    number(
        "broker.id",
        -1,
        "The id of this broker; -1 lets ZooKeeper's sequence choose one.",
        scope=INTERNAL,
    ),
    number("node.id", -1, "Accepted for broker.id when that is not set.", least=-1, scope=INTERNAL),
    flag(
        "broker.id.generation.enable",
        True,
        "Whether a broker without an id gets one.",
        scope=INTERNAL,
    ),
    number(
        "reserved.broker.max.id",
        1000,
        "The highest id that may be set by hand.",
        least=0,
        scope=INTERNAL,
    ),
    text(
        "broker.rack",
        None,
        "The rack of this broker, for placement and nearby reads.",
        scope=INTERNAL,
    ),
    text(
        "listeners",
        "PLAINTEXT://:9092",
        "Where to listen: NAME://host:port, comma separated.",
        dynamic=PER_BROKER,
        scope=INTERNAL,
    ),
    text(
        "advertised.listeners",
        None,
        "The addresses that are sent to clients; default: listeners.",
        dynamic=PER_BROKER,
        scope=INTERNAL,
    ),
    text(
        "listener.security.protocol.map",
        "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        "The security protocol of each listener name.",
        dynamic=PER_BROKER,
        scope=INTERNAL,
    ),
    text(
        "inter.broker.listener.name",
        None,
        "The listener that brokers use among themselves.",
        scope=INTERNAL,
    ),
    text(
        "security.inter.broker.protocol",
        "PLAINTEXT",
        "Protocol among brokers when inter.broker.listener.name is not set.",
        choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        scope=INTERNAL,
    ),
    dataclasses.replace(
        text(
            "inter.broker.protocol.version",
            NEWEST_PROTOCOL,
            "What brokers send each other; raised when all of them run a release that knows it.",
        ),
        check=check_spoken,
    ),
    text(
        "control.plane.listener.name",
        None,
        "A listener of its own for the controller.",
        scope=INTERNAL,
    ),
    number(
        "num.network.threads",
        3,
        "Without effect here: one event loop serves all connections.",
        least=1,
        dynamic=CLUSTER,
    ),
    number(
        "num.io.threads",
        8,
        "Without effect here: one event loop serves all requests.",
        least=1,
        dynamic=CLUSTER,
    ),
    number(
        "background.threads",
        10,
        "Worker threads for flushes, deletions and the like.",
        least=1,
        dynamic=CLUSTER,
    ),
    number(
        "queued.max.requests", 500, "Requests that may wait before connections are paused.", least=1
    ),
    long("queued.max.request.bytes", -1, "Bytes of all receive buffers together; -1 is 512 MiB."),
    number("request.timeout.ms", 30_000, "How long brokers wait for each other's answers."),
    # Kafka's default is 102400 for both. A fixed size turns the system's autotuning off, which
    # grows to megabytes: 102400 makes large fetches slower, and links with latency need far more.
    number(
        "socket.send.buffer.bytes",
        -1,
        "SO_SNDBUF of connections; -1 is the system's autotuning (Kafka's default: 102400).",
        least=-1,
    ),
    number(
        "socket.receive.buffer.bytes",
        -1,
        "SO_RCVBUF of listening sockets; -1 is the system's autotuning (Kafka's default: 102400).",
        least=-1,
    ),
    number(
        "socket.listen.backlog.size",
        1024,
        "Connections that wait to be accepted, as far as the system allows (Kafka's default: 50).",
        least=1,
    ),
    number("socket.request.max.bytes", 100 * MIB, "The largest request frame.", least=1),
    number("max.connections", MAX_INT, "Connections per broker.", least=0, dynamic=CLUSTER),
    number(
        "max.connections.per.ip",
        MAX_INT,
        "Connections per client address.",
        least=0,
        dynamic=CLUSTER,
    ),
    ConfigKey(
        "max.connections.per.ip.overrides",
        ConfigType.STRING,
        "",
        "address:count pairs that override the bound; not names of hosts, as in Kafka.",
        check=check_connections_by_address,
        dynamic=CLUSTER,
    ),
    number(
        "max.connection.creation.rate",
        MAX_INT,
        "New connections per second.",
        least=0,
        dynamic=CLUSTER,
    ),
    long("connections.max.idle.ms", 600_000, "Idle connections are closed after this long."),
    number(
        "connection.failed.authentication.delay.ms",
        100,
        "Pause before a failed login is closed.",
        least=0,
    ),
    number("fetch.max.bytes", 55 * MIB, "The most that one Fetch answers.", least=1024),
    number(
        "max.request.partition.size.limit",
        2000,
        "The most partitions that one DescribeTopicPartitions answers.",
        least=1,
    ),
    number("max.incremental.fetch.session.cache.slots", 1000, "Fetch sessions kept.", least=0),
    flag(
        "auto.create.topics.enable",
        True,
        "Whether a metadata request may create a topic.",
        scope=TENANT,
    ),
    flag("delete.topic.enable", True, "Whether topics can be deleted.", scope=TENANT),
    unsupported_class("create.topic.policy.class.name"),
    unsupported_class("alter.config.policy.class.name"),
    number(
        "num.partitions",
        1,
        "Partitions of a topic created without a count.",
        least=1,
        scope=TENANT,
        tenant_most=10_000,
    ),
    number(
        "default.replication.factor",
        1,
        "Replicas of a topic created without a count.",
        least=1,
        scope=TENANT,
        tenant_most=30,
    ),
    flag(
        "controlled.shutdown.enable",
        True,
        "Whether a stopping broker hands over its leaderships first.",
    ),
    number("controlled.shutdown.max.retries", 3, "Attempts to hand over."),
    long("controlled.shutdown.retry.backoff.ms", 5_000, "How far apart attempts begin."),
    number("controller.socket.timeout.ms", 30_000, "How long the controller waits for a broker."),
    names(
        "metric.reporters",
        (),
        "Without effect here: metrics are served in Prometheus text.",
        dynamic=CLUSTER,
        scope=INTERNAL,
    ),
    number(
        "metrics.num.samples",
        2,
        "Without effect here: metrics are served in Prometheus text.",
        least=1,
    ),
    long(
        "metrics.sample.window.ms",
        30_000,
        "Without effect here: metrics are served in Prometheus text.",
        least=1,
    ),
    number("quota.window.num", 11, "Samples kept for client quotas.", least=1),
    number("quota.window.size.seconds", 1, "Length of a quota sample.", least=1),
    number("controller.quota.window.num", 11, "Samples kept for controller quotas.", least=1),
    number(
        "controller.quota.window.size.seconds", 1, "Length of a controller quota sample.", least=1
    ),
    number(
        "penstock.metrics.port",
        0,
        "Port of the metrics page on loopback; 0 is off.",
        least=0,
        most=65_535,
        scope=INTERNAL,
    ),
)
