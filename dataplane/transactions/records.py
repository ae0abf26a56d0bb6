"""The records of `__transaction_state`, byte for byte Kafka's (versions of a 3.9 broker).

Key and value begin with their int16 version. Values are written in version 0, as Kafka does while
`transaction.version` is below 2, and the flexible version 1 is read too. A tombstone says that the
transactional id has expired.
"""

from __future__ import annotations

from typing import ClassVar, Final, NamedTuple

from dataplane.model.ids import TopicPartition
from dataplane.transactions.states import TransactionState
from dataplane.transactions.transaction import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TransactionImage,
)
from dataplane.wire.codec import encode_versioned, leading_version, versioned_decoder
from dataplane.wire.errors import WireError
from dataplane.wire.schema import (
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    Message,
    array,
    field,
    struct,
)

_KEY_VERSION: Final = 0
_VALUE_VERSION: Final = 0


@struct
class TransactionLogKey(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (0, 0)

    transactional_id: str = field(STRING, "0+")


@struct
class PartitionsSchema:
    topic: str = field(STRING, "0+")
    partition_ids: list[int] = field(array(INT32), "0+")


@struct
class TransactionLogValue(Message):
    """One state of one transactional id; partitions are null while it is Empty."""

    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    producer_id: int = field(INT64, "0+")
    previous_producer_id: int = field(INT64, "1+", default=NO_PRODUCER_ID, tag=0)
    next_producer_id: int = field(INT64, "1+", default=NO_PRODUCER_ID, tag=1)
    producer_epoch: int = field(INT16, "0+")
    transaction_timeout_ms: int = field(INT32, "0+")
    transaction_status: int = field(INT8, "0+")
    transaction_partitions: list[PartitionsSchema] | None = field(
        array(PartitionsSchema), "0+", nullable="0+"
    )
    transaction_last_update_timestamp_ms: int = field(INT64, "0+")
    transaction_start_timestamp_ms: int = field(INT64, "0+")
    client_transaction_version: int = field(INT16, "1+", default=0, tag=2)


class TransactionRecord(NamedTuple):
    """What is appended: `value` None is a tombstone."""

    key: bytes
    value: bytes | None


_decode_key = versioned_decoder(TransactionLogKey)
_decode_value = versioned_decoder(TransactionLogValue)


def decode_key(data: bytes | memoryview) -> str | None:
    """The transactional id; None for keys of later releases, which are skipped on replay.

    WireError when the bytes are no key of their version.
    """
    if leading_version(data) > _KEY_VERSION:
        return None
    return _decode_key(data).transactional_id


def decode_image(transactional_id: str, data: bytes | memoryview) -> TransactionImage:
    """What a value says. WireError for a version or a state that is not known."""
    value = _decode_value(data)
    try:
        state = TransactionState(value.transaction_status)
    except ValueError as error:
        raise WireError(f"transaction state {value.transaction_status}") from error
    if state in (TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE):
        raise WireError(f"{state.label} is never stored")
    return TransactionImage(
        transactional_id=transactional_id,
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        last_producer_id=value.previous_producer_id,
        last_producer_epoch=NO_PRODUCER_EPOCH,
        timeout_ms=value.transaction_timeout_ms,
        state=state,
        partitions=frozenset(
            TopicPartition(entry.topic, index)
            for entry in value.transaction_partitions or []
            for index in entry.partition_ids
        ),
        start_ms=value.transaction_start_timestamp_ms,
        updated_ms=value.transaction_last_update_timestamp_ms,
    )


def record_of(image: TransactionImage) -> TransactionRecord:
    """The record that stores `image`; a tombstone for a dead one."""
    key = encode_versioned(TransactionLogKey(transactional_id=image.transactional_id), _KEY_VERSION)
    if image.state is TransactionState.DEAD:
        return TransactionRecord(key, None)
    value = TransactionLogValue(
        producer_id=image.producer_id,
        producer_epoch=image.producer_epoch,
        transaction_timeout_ms=image.timeout_ms,
        transaction_status=image.state,
        transaction_partitions=_partitions(image),
        transaction_last_update_timestamp_ms=image.updated_ms,
        transaction_start_timestamp_ms=image.start_ms,
    )
    return TransactionRecord(key, encode_versioned(value, _VALUE_VERSION))


def _partitions(image: TransactionImage) -> list[PartitionsSchema] | None:
    if image.state is TransactionState.EMPTY:
        return None
    by_topic: dict[str, list[int]] = {}
    for partition in sorted(image.partitions):
        by_topic.setdefault(partition.topic, []).append(partition.partition)
    return [
        PartitionsSchema(topic=topic, partition_ids=indexes) for topic, indexes in by_topic.items()
    ]
