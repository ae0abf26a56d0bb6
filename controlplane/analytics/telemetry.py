"""Each cluster's telemetry topic: made, written to, and read back as any client would."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from controlplane.analytics.chunks import Key, Record, whole
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import AcceptedRefusals
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.records import RecordProducer, values_since
from controlplane.gateway.types import NewTopic
from spark_analytics.contracts.telemetry import (
    TELEMETRY_MESSAGE_BYTES_MAX,
    TELEMETRY_PARTITIONS,
    TELEMETRY_REPLICAS_MAX,
    TELEMETRY_RETENTION_MS,
    TELEMETRY_TOPIC,
)

DELIVERY_TIMEOUT_S = 5.0
# The sample is stamped a moment before its record is appended; broken clocks are rejected anyway.
MARGIN_MS = 60_000


class Publisher(Protocol):
    def publish(self, records: Sequence[Record]) -> None: ...
    def close(self) -> None: ...


class TelemetryPublisher:
    """Records → the cluster's own topic, acknowledged by all in-sync replicas."""

    def __init__(self, spec: ConnectionSpec) -> None:
        self._producer = RecordProducer(
            spec, client_id="penstock-collector", delivery_timeout_s=DELIVERY_TIMEOUT_S
        )

    def publish(self, records: Sequence[Record]) -> None:
        """Hand over and wait for every acknowledgement.

        Raises:
            GatewayError: some record was refused or not acknowledged in time.
        """
        pairs = [(record.key, record.value) for record in records]
        self._producer.send(TELEMETRY_TOPIC, pairs)

    def close(self) -> None:
        self._producer.close()


def ensure_topic(gateway: ClusterGateway) -> None:
    """Make the telemetry topic unless it is there."""
    if TELEMETRY_TOPIC in gateway.describe_topics([TELEMETRY_TOPIC]):
        return
    brokers = len(gateway.describe_cluster().brokers)
    replicas = max(1, min(TELEMETRY_REPLICAS_MAX, brokers))
    topic = NewTopic(
        name=TELEMETRY_TOPIC,
        partitions=TELEMETRY_PARTITIONS,
        replication_factor=replicas,
        configs={
            "retention.ms": str(TELEMETRY_RETENTION_MS),
            "min.insync.replicas": str(max(1, replicas - 1)),
            "cleanup.policy": "delete",
            "max.message.bytes": str(TELEMETRY_MESSAGE_BYTES_MAX),
        },
    )
    with AcceptedRefusals("TOPIC_ALREADY_EXISTS"):
        gateway.create_topic(topic)


def records_since(
    spec: ConnectionSpec, since_ms: int, *, timeout_s: float = 30.0
) -> dict[tuple[Key, int], dict[str, Any]]:
    """Whole slices sampled at or after `since_ms`, by key and `ts_ms`; what is none is left out.

    Raises:
        GatewayError: the brokers refused, or did not deliver within `timeout_s`.
    """
    values = values_since(
        spec,
        TELEMETRY_TOPIC,
        partitions=TELEMETRY_PARTITIONS,
        from_ms=max(0, since_ms - MARGIN_MS),
        timeout_s=timeout_s,
    )
    return whole(_parsed(values, since_ms))


def _parsed(values: Iterable[bytes], since_ms: int) -> Iterator[dict[str, Any]]:
    for value in values:
        try:
            record = json.loads(value)
            if record["ts_ms"] >= since_ms:
                yield record
        except (ValueError, KeyError, TypeError):
            continue
