"""The records of `__transaction_state` are Kafka's, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataplane.model.ids import TopicPartition
from dataplane.transactions.records import (
    TransactionLogValue,
    decode_image,
    decode_key,
    record_of,
)
from dataplane.transactions.states import TransactionState as S
from dataplane.transactions.transaction import TransactionImage
from dataplane.wire.codec import encode_versioned
from dataplane.wire.errors import WireError

names = st.text(max_size=20).filter(lambda text: text.isprintable())
int64 = st.integers(-(2**63), 2**63 - 1)
images = st.builds(
    TransactionImage,
    transactional_id=names,
    producer_id=int64,
    producer_epoch=st.integers(-(2**15), 2**15 - 1),
    timeout_ms=st.integers(-(2**31), 2**31 - 1),
    state=st.sampled_from([S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT, S.COMPLETE_COMMIT]),
    partitions=st.frozensets(
        st.builds(TopicPartition, names, st.integers(0, 2**31 - 1)), max_size=6
    ),
    start_ms=int64,
    updated_ms=int64,
)


@given(images)
def test_what_is_written_is_read(image):
    record = record_of(image)
    assert decode_key(record.key) == image.transactional_id
    assert decode_image(image.transactional_id, record.value) == image


def image(**changes):
    given = {
        "transactional_id": "tx",
        "producer_id": 5,
        "producer_epoch": 2,
        "timeout_ms": 60_000,
        "state": S.ONGOING,
        "partitions": frozenset({TopicPartition("b", 3), TopicPartition("a", 1)}),
        "start_ms": 8,
        "updated_ms": 9,
    }
    return TransactionImage(**given | changes)


def test_the_bytes_of_a_key_and_a_value():
    record = record_of(image())
    assert record.key == bytes.fromhex("0000 0002") + b"tx"
    assert record.value == (
        bytes.fromhex("0000 0000000000000005 0002 0000ea60 01 00000002")
        + bytes.fromhex("0001")
        + b"a"
        + bytes.fromhex("00000001 00000001")
        + bytes.fromhex("0001")
        + b"b"
        + bytes.fromhex("00000001 00000003")
        + bytes.fromhex("0000000000000009 0000000000000008")
    )


def test_an_empty_one_has_null_partitions():
    record = record_of(image(state=S.EMPTY, partitions=frozenset(), start_ms=-1))
    assert record.value == bytes.fromhex(
        "0000 0000000000000005 0002 0000ea60 00 ffffffff 0000000000000009 ffffffffffffffff"
    )


def test_a_dead_one_is_a_tombstone():
    assert record_of(image(state=S.DEAD)).value is None


def test_the_flexible_version_is_read_with_its_tags():
    value = TransactionLogValue(
        producer_id=7,
        previous_producer_id=5,
        next_producer_id=9,
        producer_epoch=0,
        transaction_timeout_ms=1,
        transaction_status=4,
        transaction_partitions=[],
        client_transaction_version=2,
    )
    found = decode_image("tx", encode_versioned(value, 1))
    assert (found.producer_id, found.last_producer_id, found.state) == (7, 5, S.COMPLETE_COMMIT)


def test_keys_of_later_releases_are_skipped():
    assert decode_key(b"\x00\x01anything") is None


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x00\x00\x09tx", b"\xff\xff\x00\x00"])
def test_broken_keys_are_refused(data):
    with pytest.raises(WireError):
        decode_key(data)


@pytest.mark.parametrize("status", [-1, 6, 7, 8, 100])
def test_states_that_are_never_stored_are_refused(status):
    value = TransactionLogValue(transaction_status=status, transaction_partitions=None)
    with pytest.raises(WireError):
        decode_image("tx", encode_versioned(value, 0))


@given(st.binary(max_size=60))
def test_any_bytes_are_an_image_or_a_wire_error(data):
    try:
        image = decode_image("tx", data)
    except WireError:
        return
    assert image.state not in (S.DEAD, S.PREPARE_EPOCH_FENCE)
