"""Records in and out of a topic: what the admin port does not do."""

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

from controlplane.gateway.authentication import way_in
from controlplane.gateway.client_settings import client_settings
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError

NOT_ACKNOWLEDGED = "not-acknowledged"
NOT_READ = "not-read"
LOOKUP_TIMEOUT_MS = 10_000
POLL_MS = 500
CLOSE_S = 1.0
# What the library raises besides its own errors: for arguments, and for what is closed meanwhile.
LIBRARY_ERRORS = (KafkaError, OSError, ValueError, AssertionError, RuntimeError)


class RecordProducer:
    """One producer, kept open: to connect and authenticate each time would cost more.

    It connects with the first records; after a failure the next ones find a new connection.
    """

    def __init__(self, spec: ConnectionSpec, *, client_id: str, delivery_timeout_s: float) -> None:
        self._spec = spec
        self._settings = {"client_id": client_id, **delivery_settings(delivery_timeout_s)}
        self._timeout_s = delivery_timeout_s
        self._producer: Any = None
        self._lock = threading.Lock()

    def send(self, topic: str, records: Sequence[tuple[bytes, bytes]]) -> None:
        """Hand over (key, value) pairs and wait for every acknowledgement.

        Raises:
            GatewayError: `not-acknowledged`; some record was refused or its answer is late.
        """
        with self._lock:
            try:
                refusals = self._sent(topic, records)
            except (*LIBRARY_ERRORS, GatewayError) as error:
                self._drop()
                raise _not_acknowledged(len(records), len(records), str(error)) from error
            if refusals:
                self._drop()
                raise _not_acknowledged(len(refusals), len(records), refusals[0])

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _sent(self, topic: str, records: Sequence[tuple[bytes, bytes]]) -> list[str]:
        """What became of the records that were not acknowledged."""
        if self._producer is None:
            self._producer = KafkaProducer(
                **client_settings(self._spec, way_in(self._spec)), **self._settings
            )
        waiting = [self._producer.send(topic, key=key, value=value) for key, value in records]
        with contextlib.suppress(KafkaError):  # what is late is seen below
            self._producer.flush(self._timeout_s + 1)
        return [
            str(future.exception or "no acknowledgement in time")
            for future in waiting
            if not future.succeeded()
        ]

    def _drop(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            threading.Thread(target=_close_quietly, args=(producer,), daemon=True).start()


def _close_quietly(producer: Any) -> None:
    with contextlib.suppress(Exception):
        producer.close(timeout=CLOSE_S)


def _not_acknowledged(count: int, of: int, reason: str) -> GatewayError:
    return GatewayError(NOT_ACKNOWLEDGED, f"{count} of {of} records: {reason}")


def open_producer(spec: ConnectionSpec, *, client_id: str, delivery_timeout_s: float) -> Any:
    """A producer of the library, for who wants to know of each record when it was acknowledged.

    Raises:
        GatewayError, KafkaError, OSError: it gets no connection.
    """
    settings = {
        **client_settings(spec, way_in(spec)),
        **delivery_settings(delivery_timeout_s),
        "client_id": client_id,
        "linger_ms": 0,
        "compression_type": None,
        # A lost broker is left soon, and its leaders are looked for soon.
        "request_timeout_ms": 3_000,
        "retry_backoff_ms": 50,
        "reconnect_backoff_ms": 50,
        "reconnect_backoff_max_ms": 500,
        "max_block_ms": 3_000,
    }
    return KafkaProducer(**settings)


def values_since(
    spec: ConnectionSpec, topic: str, *, partitions: int, from_ms: int, timeout_s: float
) -> Iterator[bytes]:
    """Values of the records appended from `from_ms` (by their timestamp) until now, in no order.

    Raises:
        GatewayError: `not-read`; the brokers refused, or did not deliver within `timeout_s`.
    """
    try:
        consumer = KafkaConsumer(
            **client_settings(spec, way_in(spec)),
            client_id="penstock-reader",
            group_id=None,
            enable_auto_commit=False,
            bootstrap_timeout_ms=LOOKUP_TIMEOUT_MS,
            request_timeout_ms=LOOKUP_TIMEOUT_MS,
            # The telemetry topic counts as one of the service's own.
            exclude_internal_topics=False,
            allow_auto_create_topics=False,
        )
    except (*LIBRARY_ERRORS, GatewayError) as error:
        raise GatewayError(NOT_READ, str(error)) from error
    wanted = [TopicPartition(topic, number) for number in range(partitions)]
    try:
        yield from _read(consumer, wanted, from_ms, time.monotonic() + timeout_s)
    except LIBRARY_ERRORS as error:
        raise GatewayError(NOT_READ, str(error)) from error
    finally:
        with contextlib.suppress(Exception):
            consumer.close(autocommit=False)


def _read(
    consumer: Any, wanted: list[TopicPartition], from_ms: int, until_s: float
) -> Iterator[bytes]:
    starts = consumer.offsets_for_times(
        dict.fromkeys(wanted, from_ms), timeout_ms=LOOKUP_TIMEOUT_MS
    )
    ends = consumer.end_offsets(wanted, timeout_ms=LOOKUP_TIMEOUT_MS)
    left = {
        tp: ends[tp]
        for tp, start in starts.items()
        if start is not None and start.offset < ends[tp]
    }
    consumer.assign(list(left))
    for tp in left:
        consumer.seek(tp, starts[tp].offset)
    while left:
        if time.monotonic() > until_s:
            raise GatewayError(NOT_READ, f"{wanted[0].topic} was not read in time")
        for tp, records in consumer.poll(timeout_ms=POLL_MS).items():
            yield from (record.value or b"" for record in records)
            if tp in left and records[-1].offset + 1 >= left[tp]:
                del left[tp]


def delivery_settings(timeout_s: float) -> dict[str, Any]:
    """Every record once, acknowledged by all in-sync replicas, or refused after `timeout_s`."""
    timeout_ms = int(timeout_s * 1000)
    return {
        "acks": "all",
        "enable_idempotence": True,
        "linger_ms": 5,
        "compression_type": "gzip",
        "delivery_timeout_ms": timeout_ms,
        "request_timeout_ms": max(timeout_ms - 100, 1),
        "max_block_ms": timeout_ms,
        "bootstrap_timeout_ms": timeout_ms,
        "allow_auto_create_topics": False,
    }
