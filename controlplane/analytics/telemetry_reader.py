"""Reads telemetry records back, as a plain Kafka client: no Spark between them and the reader."""

from __future__ import annotations

import json
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, TopicPartition

from controlplane.analytics.check import Key
from controlplane.analytics.publisher import security_settings
from controlplane.gateway.kafka_link import ConnectionSpec
from spark_analytics import contracts

# The sample is stamped a moment before its record is appended; broken clocks are rejected anyway.
MARGIN_MS = 60_000


class TelemetryReadError(Exception):
    """The telemetry topic could not be read; one line for people."""


def records_since(
    spec: ConnectionSpec, since_ms: int, *, timeout_s: float = 30.0
) -> dict[tuple[Key, int], dict[str, Any]]:
    """Records sampled at or after `since_ms`, by key and `ts_ms`; unreadable ones are left out.

    Raises:
        TelemetryReadError: the brokers refused, or did not deliver within `timeout_s`.
    """
    settings = {**security_settings(spec), "group.id": "penstock-analytics-check"}
    consumer = Consumer({**settings, "enable.auto.commit": False, "enable.partition.eof": False})
    try:
        return _read(consumer, since_ms, time.monotonic() + timeout_s)
    except KafkaException as error:
        raise TelemetryReadError(str(error)) from error
    finally:
        consumer.close()


def _read(
    consumer: Consumer, since_ms: int, until_s: float
) -> dict[tuple[Key, int], dict[str, Any]]:
    wanted = [
        TopicPartition(contracts.TELEMETRY_TOPIC, number, max(0, since_ms - MARGIN_MS))
        for number in range(contracts.TELEMETRY_PARTITIONS)
    ]
    starts = consumer.offsets_for_times(wanted, timeout=10)
    left: dict[int, int] = {}
    for start in starts:
        _, end = consumer.get_watermark_offsets(start, timeout=10)
        if 0 <= start.offset < end:
            left[start.partition] = end
    consumer.assign([start for start in starts if start.partition in left])
    found: dict[tuple[Key, int], dict[str, Any]] = {}
    while left:
        if time.monotonic() > until_s:
            raise TelemetryReadError("the telemetry topic was not read in time")
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            raise TelemetryReadError(str(message.error()))
        _keep(found, message.value(), since_ms)
        partition, offset = message.partition() or 0, message.offset() or 0
        if offset + 1 >= left.get(partition, 0):
            left.pop(partition, None)
    return found


def _keep(found: dict[tuple[Key, int], dict[str, Any]], value: bytes | None, since_ms: int) -> None:
    try:
        record = json.loads(value or b"")
        key = (record["kind"], record["topic"], record.get("group") or "")
        if record["ts_ms"] >= since_ms:
            found[key, record["ts_ms"]] = record
    except (ValueError, KeyError, TypeError, AttributeError):
        return
