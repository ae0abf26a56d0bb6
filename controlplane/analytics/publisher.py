"""Telemetry records → the cluster's own topic, acknowledged by all in-sync replicas."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

from confluent_kafka import KafkaException, Producer

from controlplane.analytics.slices import Slice
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka_link import ConnectionSpec
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import NewTopic
from spark_analytics import contracts

DELIVERY_TIMEOUT_S = 5.0
REPLICAS_WANTED = 3


class PublishError(Exception):
    """Not every record was acknowledged; one line for people."""


class Publisher(Protocol):
    def publish(self, records: Sequence[Slice]) -> None: ...
    def close(self) -> None: ...


class KafkaPublisher:
    """One producer, kept open: connecting and logging in anew each time would cost more."""

    def __init__(self, spec: ConnectionSpec) -> None:
        self._producer = Producer(producer_settings(spec))
        self._lock = threading.Lock()

    def publish(self, records: Sequence[Slice]) -> None:
        """Hand over and wait for every acknowledgement.

        Raises:
            PublishError: some record was refused or not acknowledged in time.
        """
        refusals: list[str] = []

        def delivered(error: Any, _message: Any) -> None:
            if error is not None:
                refusals.append(str(error))

        with self._lock:
            try:
                for record in records:
                    self._producer.produce(
                        contracts.TELEMETRY_TOPIC,
                        key=record.key,
                        value=record.value,
                        on_delivery=delivered,
                    )
                left = self._producer.flush(DELIVERY_TIMEOUT_S + 1)
            except (KafkaException, BufferError) as error:
                raise PublishError(str(error)) from error
        if left or refusals:
            reason = refusals[0] if refusals else "no acknowledgement in time"
            raise PublishError(f"{left + len(refusals)} of {len(records)} records: {reason}")

    def close(self) -> None:
        with self._lock:
            self._producer.purge()
            self._producer.flush(0)


def producer_settings(spec: ConnectionSpec) -> dict[str, Any]:
    """How the collector writes."""
    return {
        **security_settings(spec),
        "client.id": "penstock-collector",
        "acks": "all",
        "enable.idempotence": True,
        "linger.ms": 5,
        "compression.type": "lz4",
        "message.timeout.ms": int(DELIVERY_TIMEOUT_S * 1000),
        "socket.timeout.ms": int(DELIVERY_TIMEOUT_S * 1000),
        "queue.buffering.max.kbytes": 65536,
    }


def security_settings(spec: ConnectionSpec) -> dict[str, Any]:
    """Librdkafka's names for the way in."""
    found: dict[str, Any] = {
        "bootstrap.servers": ",".join(spec.bootstrap_servers),
        "security.protocol": spec.security_protocol,
        # What goes wrong comes back to the caller; librdkafka need not tell stderr as well.
        "log_level": 2,
    }
    if spec.sasl_mechanism:
        found["sasl.mechanism"] = spec.sasl_mechanism
        found["sasl.username"] = spec.username or ""
        found["sasl.password"] = spec.password or ""
    return found


def ensure_topic(gateway: ClusterGateway) -> None:
    """Make the telemetry topic unless it is there."""
    if contracts.TELEMETRY_TOPIC in gateway.describe_topics([contracts.TELEMETRY_TOPIC]):
        return
    brokers = len(gateway.describe_cluster().brokers)
    replicas = max(1, min(REPLICAS_WANTED, brokers))
    topic = NewTopic(
        name=contracts.TELEMETRY_TOPIC,
        partitions=contracts.TELEMETRY_PARTITIONS,
        replication_factor=replicas,
        configs={
            "retention.ms": str(contracts.TELEMETRY_RETENTION_MS),
            "min.insync.replicas": str(max(1, replicas - 1)),
            "cleanup.policy": "delete",
        },
    )
    try:
        gateway.create_topic(topic)
    except GatewayError as error:
        if error.code != "TOPIC_ALREADY_EXISTS":
            raise
