"""End-of-transaction markers: control batches of one record (KIP-98).

Key: int16 version 0, int16 type (0 abort, 1 commit). Value: int16 version 0, int32 coordinator
epoch.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from dataplane.log.producers.producer_state import Marker
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.errors import WireError
from dataplane.wire.record_batch import NewRecord, build_batch, iter_records

if TYPE_CHECKING:
    from dataplane.ports.filesystem import Buffer

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_ABORT, _COMMIT = 0, 1


def build_marker(
    producer_id: int, producer_epoch: int, marker: Marker, *, timestamp_ms: int
) -> bytearray:
    """The batch that ends the producer's transaction in a partition."""
    record = NewRecord(
        _KEY.pack(0, _COMMIT if marker.is_commit else _ABORT),
        _VALUE.pack(0, marker.coordinator_epoch),
        timestamp_ms=timestamp_ms,
    )
    return build_batch(
        [record],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def read_marker(batch: Buffer) -> Marker | None:
    """The end-of-transaction marker in a control batch; None for other control batches."""
    try:
        record = next(iter_records(batch), None)
    except WireError as error:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    if record is None or record.key is None or len(record.key) < _KEY.size:
        return None
    kind = _KEY.unpack_from(record.key)[1]
    if kind > _COMMIT or record.value is None or len(record.value) < _VALUE.size:
        return None
    return Marker(kind == _COMMIT, _VALUE.unpack_from(record.value)[1])
