"""What one look of a reader unpacks has an end, and no record is lost by it."""

import gzip
from typing import Any, ClassVar, NamedTuple

import pytest
from kafka import TopicPartition

from controlplane.gateway import bounded_unpacking, record_reader
from controlplane.gateway.bounded_unpacking import LookIsFullError, gunzip, one_look
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.record_port import Span

BATCHES = [gzip.compress(b"0" * 600) for _ in range(5)]
TP = TopicPartition("t", 0)


class Row(NamedTuple):
    partition: int
    offset: int
    value: bytes
    key: bytes | None = None
    timestamp: int = 0
    timestamp_type: int = 0
    headers: tuple[Any, ...] = ()


class Consumer:
    """As the library does: what comes before a batch that fails is given, then it raises."""

    made: ClassVar[list["Consumer"]] = []
    batches: ClassVar[list[bytes]] = BATCHES

    def __init__(self, **_settings):
        self.made.append(self)
        self._at, self._failed = 0, None

    def assign(self, tps):
        assert list(tps) == [TP]

    def seek(self, _tp, offset):
        self._at = offset

    def poll(self, timeout_ms):
        del timeout_ms
        if self._failed is not None:
            raise self._failed
        rows = []
        while self._at < len(self.batches):
            try:
                value = gunzip(self.batches[self._at])
            except Exception as error:
                self._failed = error
                break
            rows.append(Row(0, self._at, value))
            self._at += 1
        if not rows and self._failed is not None:
            raise self._failed
        return {TP: rows} if rows else {}

    def position(self, _tp, timeout_ms):
        del timeout_ms
        return self._at

    def close(self, *, autocommit):
        assert not autocommit


@pytest.fixture
def reader(monkeypatch):
    monkeypatch.setattr(bounded_unpacking, "UNPACKED_MAX_BYTES", 1_000)
    monkeypatch.setattr(record_reader, "KafkaConsumer", Consumer)
    monkeypatch.setattr(record_reader, "way_in", lambda _spec: "127.0.0.1:1")
    monkeypatch.setattr(Consumer, "made", [])
    return record_reader.KafkaRecordReader(
        ConnectionSpec(bootstrap_servers=("127.0.0.1:1",)), "t", [0]
    )


def test_a_look_ends_with_the_batch_that_makes_it_too_large(monkeypatch):
    monkeypatch.setattr(bounded_unpacking, "UNPACKED_MAX_BYTES", 1_000)
    with one_look():
        assert len(gunzip(BATCHES[0])) + len(gunzip(BATCHES[1])) == 1_200
        with pytest.raises(LookIsFullError):
            gunzip(BATCHES[2])
    for batch in BATCHES:  # outside of a look there is none to be full
        gunzip(batch)


def test_the_next_looks_bring_the_rest(reader):
    at, looks, found = 0, 0, []
    while at < len(BATCHES):
        fetched = reader.fetch({0: Span(at, len(BATCHES))}, wait_s=0)
        rows = fetched.records.get(0, [])
        assert len(rows) <= 2
        found += [row.offset for row in rows]
        at, looks = fetched.next[0], looks + 1
        assert looks < 10
    assert found == [0, 1, 2, 3, 4]
    assert len(Consumer.made) == 3


@pytest.mark.parametrize("batch", [b"no gzip", gzip.compress(b"0" * 2_000)], ids=["none", "large"])
def test_a_batch_that_nobody_can_unpack_is_said(reader, monkeypatch, batch):
    monkeypatch.setattr(Consumer, "batches", [BATCHES[0], batch])
    assert reader.fetch({0: Span(0, 2)}, wait_s=0).next == {0: 1}
    with pytest.raises(GatewayError):
        reader.fetch({0: Span(1, 2)}, wait_s=0)
