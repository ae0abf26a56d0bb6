"""What every reader and writer of records promises, asked of the fake and of real brokers alike."""

import itertools
import time

import pytest
from confluent_kafka import Producer

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.record_port import HEADERS_MAX, Isolation, NewRecord, Span
from controlplane.gateway.record_reader import KafkaRecordReader, write_record
from controlplane.gateway.types import LATEST, TP
from controlplane.messages.merging import NewestFirst, OldestFirst
from tests.controlplane.gateway.conftest import login, spec_of
from tests.controlplane.gateway.test_contract import made

SECONDS = 20.0
_numbers = itertools.count()


@pytest.fixture
def name(kind):
    return f"records.{kind}.{next(_numbers)}"


@pytest.fixture
def write(kind, gateway, request):
    if kind == "fake":
        return gateway.write_record
    spec = spec_of(request.getfixturevalue("secured"))
    return lambda topic, record: write_record(spec, topic, record, timeout_s=10.0)


@pytest.fixture
def read(kind, gateway, request):
    """Opens readers, and closes them afterwards."""
    opened = []

    def one(topic, partitions):
        if kind == "fake":
            found = gateway.record_reader(topic, partitions)
        else:
            spec = spec_of(request.getfixturevalue("secured"))
            found = KafkaRecordReader(spec, topic, partitions)
        opened.append(found)
        return found

    yield one
    for reader in opened:
        reader.close()


def everything(reader, spans):
    """Records of these spans, by partition, once nothing is left in any."""
    left, found = dict(spans), {number: [] for number in spans}
    until_s = time.monotonic() + SECONDS
    while left:
        assert time.monotonic() < until_s, left
        fetched = reader.fetch(left, wait_s=0.5)
        for number, rows in fetched.records.items():
            found[number] += rows
        left = {
            number: Span(fetched.next[number], span.end)
            for number, span in left.items()
            if fetched.next[number] < span.end
        }
    return found


def value(number):
    return NewRecord(partition=0, key=None, value=b"%d" % number)


def test_a_record_is_read_back_as_it_was_written(gateway, name, write, read):
    made(gateway, name, partitions=2)
    headers = (("a", b"1"), ("a", b"\xff"), ("none", b""))
    where = write(name, NewRecord(partition=1, key=b"k", value=b'{"a": 1}', headers=headers))
    assert (where.partition, where.offset) == (1, 0)
    tombstone = write(name, NewRecord(partition=1, key=b"k", value=None))
    assert tombstone.offset == 1
    found = everything(read(name, [0, 1]), {0: Span(0, 0), 1: Span(0, 2)})
    first, second = found[1]
    assert (first.partition, first.offset, first.key, first.value) == (1, 0, b"k", b'{"a": 1}')
    assert first.headers == headers
    assert first.timestamp_ms == where.timestamp_ms
    assert (second.offset, second.value, second.headers) == (1, None, ())
    assert found[0] == []


def test_a_span_is_read_and_nothing_beside_it_also_backwards(gateway, name, write, read):
    made(gateway, name)
    for number in range(12):
        write(name, value(number))
    reader = read(name, [0])
    for start, end in ((6, 9), (3, 6), (0, 3), (11, 12), (4, 4)):
        found = everything(reader, {0: Span(start, end)})
        assert [record.offset for record in found[0]] == list(range(start, end))


def test_what_comes_later_is_waited_for_and_silence_is_no_error(gateway, name, write, read):
    made(gateway, name)
    write(name, value(0))
    reader = read(name, [0])
    nothing = reader.fetch({0: Span(1, 2**62)}, wait_s=0.2)
    assert (dict(nothing.records), nothing.next[0]) == ({}, 1)
    write(name, value(1))
    assert [row.value for row in everything(reader, {0: Span(1, 2)})[0]] == [b"1"]


def test_reading_leaves_no_trace(gateway, name, write, read):
    made(gateway, name)
    write(name, value(0))
    # Other tests have had groups on these brokers.
    before = {row.group for row in gateway.list_groups()}
    everything(read(name, [0]), {0: Span(0, 1)})
    assert {row.group for row in gateway.list_groups()} <= before


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_what_the_brokers_refuse_was_not_written(kafka, secured):
    made(kafka, "records.small", max_message_bytes="500")
    new = NewRecord(partition=0, key=None, value=b"".join(b"%d " % n for n in range(20_000)))
    with pytest.raises(GatewayError) as caught:
        write_record(spec_of(secured), "records.small", new, timeout_s=10.0)
    assert not caught.value.unknown_outcome
    assert caught.value.code == "MESSAGE_TOO_LARGE"


def transaction(producer, topic, values, *, end):
    """Records of one transaction, written and acknowledged; `end`: of the producer, or none."""
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(20) == 0
    if end is not None:
        end(20)


@pytest.mark.cluster
@pytest.mark.timeout(180)
def test_committed_records_alone_up_to_the_last_stable_offset(kafka, secured):
    """A real transactional producer: one committed, one aborted, one committed, one still open."""
    topic, tp = "records.isolation", TP("records.isolation", 0)
    made(kafka, topic)
    settings = {**login(secured), "acks": "all", "transactional.id": "isolation"}
    producer = Producer(settings)
    producer.init_transactions(20)
    transaction(producer, topic, [b"a0", b"a1"], end=producer.commit_transaction)
    transaction(producer, topic, [b"x3", b"x4"], end=producer.abort_transaction)
    transaction(producer, topic, [b"b6"], end=producer.commit_transaction)
    transaction(producer, topic, [b"o8", b"o9"], end=None)
    # Three markers, at 2, 5 and 7; the open transaction begins at 8.
    high = kafka.offsets({tp: LATEST})[tp].offset
    stable = kafka.offsets({tp: LATEST}, Isolation.READ_COMMITTED)[tp].offset
    assert (stable, high) == (8, 10)
    readers = {
        isolation: KafkaRecordReader(spec_of(secured), topic, [0], isolation)
        for isolation in Isolation
    }
    try:
        every = everything(readers[Isolation.READ_UNCOMMITTED], {0: Span(0, high)})[0]
        assert [row.value for row in every] == [b"a0", b"a1", b"x3", b"x4", b"b6", b"o8", b"o9"]
        committed = readers[Isolation.READ_COMMITTED]
        assert [row.value for row in everything(committed, {0: Span(0, stable)})[0]] == [
            b"a0",
            b"a1",
            b"b6",
        ]
        # From within the aborted one too, as a page newest first does.
        for start, values in ((4, [b"b6"]), (3, [b"b6"]), (5, [b"b6"]), (1, [b"a1", b"b6"])):
            found = everything(committed, {0: Span(start, stable)})[0]
            assert [row.value for row in found] == values
        waiting = committed.fetch({0: Span(stable, high)}, wait_s=1.0)
        assert (dict(waiting.records), waiting.next[0]) == ({}, stable)
        producer.commit_transaction(20)
        late = everything(committed, {0: Span(stable, high)})[0]
        assert [row.value for row in late] == [b"o8", b"o9"]
    finally:
        for reader in readers.values():
            reader.close()


@pytest.mark.cluster
@pytest.mark.timeout(120)
def test_headers_beyond_the_bound_are_counted_by_real_brokers_too(kafka, secured):
    topic = "records.headers"
    made(kafka, topic)
    producer = Producer({**login(secured), "acks": "all", "compression.type": "gzip"})
    producer.produce(topic, b"v", partition=0, headers=[("", b"")] * 100_000)
    producer.produce(topic, b"next", partition=0)
    assert producer.flush(20) == 0
    reader = KafkaRecordReader(spec_of(secured), topic, [0])
    try:
        first, second = everything(reader, {0: Span(0, 2)})[0]
    finally:
        reader.close()
    assert len(first.headers) == HEADERS_MAX
    assert first.headers_left_out == 100_000 - HEADERS_MAX
    assert (second.value, second.headers_left_out) == (b"next", 0)


@pytest.mark.cluster
@pytest.mark.timeout(180)
def test_many_partitions_are_merged_with_markers_and_aborted_records_between(kafka, secured):
    """Offsets that hold no record keep no page from its end."""
    topic, partitions = "records.merged", 3
    made(kafka, topic, partitions=partitions)
    producer = Producer({**login(secured), "transactional.id": "records", "acks": "all"})
    producer.init_transactions(20)
    sent = 0
    for turn in range(3):
        producer.begin_transaction()
        for _ in range(1_000):
            producer.produce(
                topic, b"%d" % sent, partition=sent % partitions, timestamp=10**12 + sent
            )
            sent += 1
        producer.flush(20)
        if turn == 1:
            producer.abort_transaction(20)
        else:
            producer.commit_transaction(20)
    ends = dict.fromkeys(range(partitions), sent // partitions + 3)
    spans = {number: Span(0, end) for number, end in ends.items()}
    reader = KafkaRecordReader(spec_of(secured), topic, range(partitions))
    try:
        for merge, expected in (
            (OldestFirst(spans), range(sent)),
            (NewestFirst(spans, first_window=10), range(sent - 1, -1, -1)),
        ):
            found, until_s = [], time.monotonic() + 60
            while not merge.is_done:
                assert time.monotonic() < until_s, merge.left()
                if needs := merge.needs():
                    merge.give(reader.fetch(needs, wait_s=0.4))
                while (record := merge.pop()) is not None:
                    found.append(int(record.value))
            assert found == list(expected)
    finally:
        reader.close()
