"""One record of one partition, as any client would read it."""

import contextlib
import time
import zlib
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer, TopicPartition

from controlplane.gateway.authentication import way_in
from controlplane.gateway.bounded_unpacking import bound_unpacking
from controlplane.gateway.client_settings import client_settings
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.records import LIBRARY_ERRORS, NOT_READ

FETCH_MAX_BYTES = 1024 * 1024
"""Of one answer; a single batch that is larger comes whole, as the broker lets it be written."""
POLL_MS = 500

bound_unpacking()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def record_from(
    spec: ConnectionSpec, topic: str, partition: int, offset: int, *, timeout_s: float
) -> Sampled | None:
    """The first record at or after `offset`, of an open transaction too; None: there is none yet.

    Raises:
        GatewayError: `not-read`; the brokers refused, or did not deliver within `timeout_s`.
    """
    until_s = time.monotonic() + timeout_s
    timeout_ms = int(timeout_s * 1000)
    try:
        consumer = KafkaConsumer(
            **client_settings(spec, way_in(spec)),
            client_id="penstock-sample",
            group_id=None,
            enable_auto_commit=False,
            # What was removed since the plan: the first record that is still there.
            auto_offset_reset="earliest",
            max_poll_records=1,
            fetch_max_bytes=FETCH_MAX_BYTES,
            max_partition_fetch_bytes=FETCH_MAX_BYTES,
            bootstrap_timeout_ms=timeout_ms,
            request_timeout_ms=timeout_ms,
            allow_auto_create_topics=False,
            exclude_internal_topics=False,
        )
    except (*LIBRARY_ERRORS, GatewayError) as error:
        raise GatewayError(NOT_READ, str(error)) from error
    try:
        return _first(consumer, TopicPartition(topic, partition), offset, until_s)
    except (*LIBRARY_ERRORS, zlib.error) as error:
        raise GatewayError(NOT_READ, str(error) or type(error).__name__) from error
    finally:
        with contextlib.suppress(Exception):
            consumer.close(autocommit=False)


def _first(consumer: Any, tp: TopicPartition, offset: int, until_s: float) -> Sampled | None:
    left_ms = max(1, int((until_s - time.monotonic()) * 1000))
    end = consumer.end_offsets([tp], timeout_ms=left_ms)[tp]
    consumer.assign([tp])
    consumer.seek(tp, offset)
    at = offset
    while at < end:
        if time.monotonic() > until_s:
            raise GatewayError(NOT_READ, f"{tp.topic}-{tp.partition} was not read in time")
        for found in consumer.poll(timeout_ms=POLL_MS).values():
            record = found[0]
            return Sampled(
                offset=record.offset,
                timestamp_ms=record.timestamp if record.timestamp >= 0 else None,
                key=record.key,
                value=record.value,
                headers=tuple(record.headers),
            )
        # Control records and what compaction left out give nothing: the end comes by itself.
        at = max(at, consumer.position(tp, timeout_ms=POLL_MS) or at)
    return None
