"""WriteTxnMarkers (key 27), versions 0-1, flexible from 1.

A coordinator has the leaders of a transaction's partitions write how it ended.
"""

from __future__ import annotations

from typing import ClassVar

from dataplane.wire.schema import BOOL, INT16, INT32, INT64, STRING, Message, array, field, struct


@struct
class WritableTxnMarkerTopic:
    name: str = field(STRING, "0+")
    partition_indexes: list[int] = field(array(INT32), "0+")


@struct
class WritableTxnMarker:
    producer_id: int = field(INT64, "0+")
    producer_epoch: int = field(INT16, "0+")
    transaction_result: bool = field(BOOL, "0+")
    topics: list[WritableTxnMarkerTopic] = field(array(WritableTxnMarkerTopic), "0+")
    coordinator_epoch: int = field(INT32, "0+")


@struct
class WriteTxnMarkersRequest(Message):
    API_KEY: ClassVar[int] = 27
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    markers: list[WritableTxnMarker] = field(array(WritableTxnMarker), "0+")


@struct
class WritableTxnMarkerPartitionResult:
    partition_index: int = field(INT32, "0+")
    error_code: int = field(INT16, "0+")


@struct
class WritableTxnMarkerTopicResult:
    name: str = field(STRING, "0+")
    partitions: list[WritableTxnMarkerPartitionResult] = field(
        array(WritableTxnMarkerPartitionResult), "0+"
    )


@struct
class WritableTxnMarkerResult:
    producer_id: int = field(INT64, "0+")
    topics: list[WritableTxnMarkerTopicResult] = field(array(WritableTxnMarkerTopicResult), "0+")


@struct
class WriteTxnMarkersResponse(Message):
    API_KEY: ClassVar[int] = 27
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)
    FLEXIBLE: ClassVar[int] = 1

    markers: list[WritableTxnMarkerResult] = field(array(WritableTxnMarkerResult), "0+")
