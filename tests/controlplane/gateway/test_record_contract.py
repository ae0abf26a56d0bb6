"""What every reader and writer of records promises, asked of the fake and of real brokers alike."""

import itertools
import time

import pytest
from confluent_kafka import Producer

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.record_port import NewRecord, Span
from controlplane.gateway.record_reader import KafkaRecordReader, write_record
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
