"""`RecordReader` and the writing of one record over kafka-python's consumer and producer."""

import contextlib
import struct
import threading
import zlib
from collections.abc import Collection, Mapping
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import BrokerResponseError, CorruptRecordError, KafkaError

from controlplane.gateway.authentication import way_in
from controlplane.gateway.bounded_records import TooManyRecordsError, bound_records
from controlplane.gateway.bounded_unpacking import (
    LookIsFullError,
    TooLargeError,
    bound_unpacking,
    one_look,
)
from controlplane.gateway.client_settings import client_settings
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError, timed_out, unreachable
from controlplane.gateway.kafka_link import refusal
from controlplane.gateway.patience import bounded
from controlplane.gateway.record_port import (
    Fetched,
    Isolation,
    NewRecord,
    Record,
    Span,
    Written,
)
from controlplane.gateway.records import (
    LIBRARY_ERRORS,
    LOOKUP_TIMEOUT_MS,
    NOT_READ,
    delivery_settings,
)

POLL_RECORDS_MAX = 500
FETCH_MAX_BYTES = 8 * 1024 * 1024
"""Of one broker's answer; one batch more where it is greater."""
PARTITION_FETCH_MAX_BYTES = 512 * 1024
FETCH_WAIT_MS = 250
LOG_APPEND_TIME = 1
CLOSE_S = 1.0
REQUEST_MAX_BYTES = 2 * 1024 * 1024

MALFORMED = (zlib.error, struct.error, LookupError, TypeError)
"""What the library raises over bytes of strangers that are no batch."""
REFUSED_BATCHES = (CorruptRecordError, TooLargeError, TooManyRecordsError)

bound_unpacking()
bound_records()


class KafkaRecordReader:
    """A consumer without a group; not thread-safe: one thread at a time.

    Raises:
        GatewayError: nobody lets it in.
    """

    def __init__(
        self,
        spec: ConnectionSpec,
        topic: str,
        partitions: Collection[int],
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
    ) -> None:
        self._spec, self._isolation = spec, isolation
        self._consumer = self._opened()
        self._tps = {number: TopicPartition(topic, number) for number in partitions}
        self._at: dict[int, int] = {}
        self._assigned: frozenset[int] = frozenset()

    def _opened(self) -> Any:
        try:
            return KafkaConsumer(
                **client_settings(self._spec, way_in(self._spec)),
                client_id="penstock-messages",
                group_id=None,
                enable_auto_commit=False,
                isolation_level=self._isolation.value,
                # What retention takes away meanwhile is passed over.
                auto_offset_reset="earliest",
                bootstrap_timeout_ms=round(bounded(LOOKUP_TIMEOUT_MS / 1000) * 1000),
                request_timeout_ms=LOOKUP_TIMEOUT_MS,
                max_poll_records=POLL_RECORDS_MAX,
                fetch_max_bytes=FETCH_MAX_BYTES,
                max_partition_fetch_bytes=PARTITION_FETCH_MAX_BYTES,
                fetch_max_wait_ms=FETCH_WAIT_MS,
                # What is read changes with each look: a session would be told so each time.
                enable_incremental_fetch_sessions=False,
                exclude_internal_topics=False,
                allow_auto_create_topics=False,
            )
        except (*LIBRARY_ERRORS, GatewayError) as error:
            raise _refused(error, "read records") from error

    def fetch(self, spans: Mapping[int, Span], *, wait_s: float) -> Fetched:
        """As `RecordReader.fetch`."""
        try:
            with one_look():
                return self._fetched(spans, wait_s)
        except LookIsFullError:
            # What came before was given already. The library goes round for ever in what it could
            # not unpack, so a new consumer goes on, from there.
            self.close()
            self._consumer, self._assigned = self._opened(), frozenset()
            return Fetched({}, {number: span.start for number, span in spans.items()})
        except REFUSED_BATCHES as error:
            raise GatewayError(NOT_READ, str(error)) from error
        except MALFORMED as error:
            detail = f"A batch cannot be taken apart: {str(error) or type(error).__name__}"
            raise GatewayError(NOT_READ, detail) from error
        except LIBRARY_ERRORS as error:
            raise _refused(error, "read records") from error

    def _fetched(self, spans: Mapping[int, Span], wait_s: float) -> Fetched:
        # Not by pausing the others: the library parks what it has of those, and then waits for
        # ever for what is sought in them afterwards.
        if self._assigned != frozenset(spans):
            self._assigned = frozenset(spans)
            self._consumer.assign([self._tps[number] for number in spans])
            self._at.clear()
        for number, span in spans.items():
            if self._at.get(number) != span.start:
                self._consumer.seek(self._tps[number], span.start)
        found = self._consumer.poll(timeout_ms=int(wait_s * 1000))
        records = {
            tp.partition: [_record(row) for row in rows if row.offset < spans[tp.partition].end]
            for tp, rows in found.items()
        }
        for number in spans:
            # Past what is no record too: markers of transactions, what compaction took.
            position = self._consumer.position(self._tps[number], timeout_ms=0)
            if position is not None:
                self._at[number] = position
        following = {
            number: min(max(self._at.get(number, span.start), span.start), span.end)
            for number, span in spans.items()
        }
        return Fetched(records, following)

    def close(self) -> None:
        """Waits for nobody."""
        threading.Thread(target=_close_consumer, args=(self._consumer,), daemon=True).start()


def _close_consumer(consumer: Any) -> None:
    with contextlib.suppress(Exception):
        consumer.close(autocommit=False)


def _record(row: Any) -> Record:
    return Record(
        partition=row.partition,
        offset=row.offset,
        timestamp_ms=row.timestamp if row.timestamp is not None and row.timestamp >= 0 else None,
        key=row.key,
        value=row.value,
        headers=tuple((str(name), value) for name, value in row.headers or ()),
        headers_left_out=getattr(row.headers, "left_out", 0),
        is_log_append_time=row.timestamp_type == LOG_APPEND_TIME,
    )


def write_record(
    spec: ConnectionSpec, topic: str, record: NewRecord, *, timeout_s: float
) -> Written:
    """One record, acknowledged by all in-sync replicas.

    Raises:
        GatewayError: refused; or `unknown_outcome`, when no answer came in time.
    """
    what = "write a record"
    settings = {
        **delivery_settings(timeout_s),
        "linger_ms": 0,
        "max_request_size": REQUEST_MAX_BYTES,
    }
    try:
        producer = KafkaProducer(
            **client_settings(spec, way_in(spec)), client_id="penstock-messages", **settings
        )
    except (*LIBRARY_ERRORS, GatewayError) as error:
        raise _refused(error, what) from error
    try:
        try:
            future = producer.send(
                topic,
                key=record.key,
                value=record.value,
                headers=[(name, value) for name, value in record.headers],
                partition=record.partition,
            )
        except LIBRARY_ERRORS as error:  # nothing was sent
            raise _refused(error, what) from error
        try:
            made = future.get(timeout=timeout_s + 1)
        except BrokerResponseError as error:
            raise refusal(type(error), f"{what}: {error}") from error
        except LIBRARY_ERRORS as error:
            raise timed_out(f"{what}: {error}", write=True) from error
        at_ms = made.timestamp if made.timestamp is not None and made.timestamp >= 0 else None
        return Written(partition=made.partition, offset=made.offset, timestamp_ms=at_ms)
    finally:
        threading.Thread(target=_close_producer, args=(producer,), daemon=True).start()


def _close_producer(producer: Any) -> None:
    with contextlib.suppress(Exception):
        producer.close(timeout=CLOSE_S)


def _refused(error: Exception, what: str) -> GatewayError:
    if isinstance(error, GatewayError):
        return error
    if isinstance(error, BrokerResponseError):
        return refusal(type(error), f"{what}: {error}")
    if isinstance(error, KafkaError | OSError | RuntimeError):
        return unreachable(f"{what}: {error}")
    return GatewayError("invalid-request", f"{what}: {error}")
