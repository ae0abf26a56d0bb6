"""The header's layout against the numbers that Kafka's protocol guide gives."""

from __future__ import annotations

from dataplane.wire import batch_layout as layout
from dataplane.wire.record_batch import BatchHeader


def test_positions_are_those_of_the_protocol() -> None:
    assert (layout.HEADER_BYTES, layout.LOG_OVERHEAD_BYTES, layout.LENGTH_MIN) == (61, 12, 49)
    assert (layout.LEADER_EPOCH_AT, layout.MAGIC_AT, layout.CRC_AT) == (12, 16, 17)
    assert layout.ATTRIBUTES_AT == layout.CHECKED_FROM == 21
    assert (layout.BASE_TIMESTAMP_AT, layout.MAX_TIMESTAMP_AT) == (27, 35)


def test_parts_of_the_header_are_those_of_the_whole() -> None:
    fields = BatchHeader(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    raw = layout.HEADER.pack(*fields)
    assert layout.HEADER.format == ">qiibIhiqqqhii"
    assert layout.BASE_OFFSET.unpack_from(raw) == (1,)
    assert layout.BASE_OFFSET_AND_LENGTH.unpack_from(raw) == (1, 2)
    assert layout.ASSIGNED_BY_LEADER.unpack_from(raw) == (1, 2, 3)
    assert layout.SPAN.unpack_from(raw) == (1, 2, 7)
    assert layout.SPAN_AND_MAGIC.unpack_from(raw) == (1, 2, 4, 7)
    assert layout.LEADER_EPOCH.unpack_from(raw, layout.LEADER_EPOCH_AT) == (3,)
    assert raw[layout.MAGIC_AT] == 4
    assert layout.CRC.unpack_from(raw, layout.CRC_AT) == (5,)
    assert layout.ATTRIBUTES.unpack_from(raw, layout.ATTRIBUTES_AT) == (6,)
    assert layout.TIMESTAMP.unpack_from(raw, layout.BASE_TIMESTAMP_AT) == (8,)
    assert layout.TIMESTAMP.unpack_from(raw, layout.MAX_TIMESTAMP_AT) == (9,)
