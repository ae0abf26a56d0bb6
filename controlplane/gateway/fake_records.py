"""The records of the fake cluster: a part of `FakeGateway`, and its reader."""

from collections.abc import Collection, Mapping
from typing import Protocol

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.fake_state import FakePartition, FakeTopic, end_for
from controlplane.gateway.record_port import (
    Fetched,
    Isolation,
    NewRecord,
    Record,
    Span,
    Written,
)

POLL_RECORDS_MAX = 500
WRITTEN_AT_MS = 1_700_000_000_000


class FakeCluster(Protocol):
    """What of `FakeGateway` is needed here."""

    topics: dict[str, FakeTopic]
    silent: set[int]

    def note_call(self, method: str) -> None: ...


class FakeRecordReader:
    """Answers from `FakePartition.records`; `silent` partitions bring nothing, as dead ones do."""

    def __init__(
        self,
        gateway: FakeCluster,
        topic: str,
        partitions: Collection[int],
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
    ) -> None:
        self._isolation = isolation
        self._gateway, self._topic = gateway, topic
        self._partitions = frozenset(partitions)
        self.is_closed = False

    def fetch(self, spans: Mapping[int, Span], *, wait_s: float) -> Fetched:
        """As `RecordReader.fetch`, at once."""
        del wait_s
        if self.is_closed or not set(spans) <= self._partitions:
            raise AssertionError("a closed reader, or a partition that it was not opened for")
        self._gateway.note_call("fetch")
        found: dict[int, list[Record]] = {}
        following: dict[int, int] = {}
        for number, span in spans.items():
            part = self._gateway.topics[self._topic].partitions[number]
            if part.replicas[0] in self._gateway.silent:
                following[number] = span.start
                continue
            log_end = end_for(part, self._isolation)
            end = min(span.end, max(log_end, span.start))
            hidden = part.aborted if self._isolation is Isolation.READ_COMMITTED else ()
            rows = [
                row
                for row in part.records
                if span.start <= row.offset < end and row.offset not in hidden
            ]
            found[number] = rows[:POLL_RECORDS_MAX]
            is_all = len(rows) <= POLL_RECORDS_MAX
            following[number] = end if is_all else found[number][-1].offset + 1
        return Fetched({number: rows for number, rows in found.items() if rows}, following)

    def close(self) -> None:
        self.is_closed = True


def append(part: FakePartition, number: int, record: NewRecord, at_ms: int) -> Written:
    """At the end of the fake's partition."""
    offset = part.log_end
    part.records.append(
        Record(
            partition=number,
            offset=offset,
            timestamp_ms=at_ms,
            key=record.key,
            value=record.value,
            headers=record.headers,
        )
    )
    part.log_end += 1
    # The fake finds offsets by the place in this list.
    part.timestamps_ms += [0] * (offset - len(part.timestamps_ms)) + [at_ms]
    return Written(partition=number, offset=offset, timestamp_ms=at_ms)


class FakeRecordsMixin:
    """What `FakeGateway` offers beside the admin port."""

    def record_reader(
        self,
        topic: str,
        partitions: Collection[int],
        isolation: Isolation = Isolation.READ_UNCOMMITTED,
    ) -> FakeRecordReader:
        gateway: FakeCluster = self  # type: ignore[assignment] # mixed into FakeGateway alone
        gateway.note_call("record_reader")
        return FakeRecordReader(gateway, topic, partitions, isolation)

    def write_record(
        self, topic: str, record: NewRecord, *, timeout_s: float = 0, at_ms: int = WRITTEN_AT_MS
    ) -> Written:
        """Raises GatewayError, as brokers do."""
        del timeout_s
        gateway: FakeCluster = self  # type: ignore[assignment] # mixed into FakeGateway alone
        gateway.note_call("write_record")
        if topic not in gateway.topics:
            raise GatewayError("UNKNOWN_TOPIC_OR_PARTITION", topic)
        partitions = gateway.topics[topic].partitions
        number = 0 if record.partition is None else record.partition
        if number >= len(partitions):
            raise GatewayError("UNKNOWN_TOPIC_OR_PARTITION", f"{topic}-{number}")
        return append(partitions[number], number, record, at_ms)
