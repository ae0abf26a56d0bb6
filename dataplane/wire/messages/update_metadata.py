"""UpdateMetadata (key 6), versions 0-8, flexible from 6.

The controller spreads the cluster's state.

Below version 5 partitions come ungrouped, with their topic's name in each; version 0 knows one
endpoint per broker. `type` (8+): 0 unknown, 1 incremental, 2 full.
"""

from __future__ import annotations

import uuid
from typing import ClassVar

from dataplane.wire.schema import (
    BOOL,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UUID,
    Message,
    array,
    field,
    struct,
)


@struct
class UpdateMetadataPartitionState:
    topic_name: str = field(STRING, "0-4")
    partition_index: int = field(INT32, "0+")
    controller_epoch: int = field(INT32, "0+")
    leader: int = field(INT32, "0+")
    leader_epoch: int = field(INT32, "0+")
    isr: list[int] = field(array(INT32), "0+")
    zk_version: int = field(INT32, "0+")
    replicas: list[int] = field(array(INT32), "0+")
    offline_replicas: list[int] = field(array(INT32), "4+")


@struct
class UpdateMetadataTopicState:
    topic_name: str = field(STRING, "5+")
    topic_id: uuid.UUID = field(UUID, "7+")
    partition_states: list[UpdateMetadataPartitionState] = field(
        array(UpdateMetadataPartitionState), "5+"
    )


@struct
class UpdateMetadataEndpoint:
    port: int = field(INT32, "1+")
    host: str = field(STRING, "1+")
    listener: str = field(STRING, "3+")
    security_protocol: int = field(INT16, "1+")


@struct
class UpdateMetadataBroker:
    id: int = field(INT32, "0+")
    v0_host: str = field(STRING, "0")
    v0_port: int = field(INT32, "0")
    endpoints: list[UpdateMetadataEndpoint] = field(array(UpdateMetadataEndpoint), "1+")
    rack: str | None = field(STRING, "2+", nullable="0+")


@struct
class UpdateMetadataRequest(Message):
    API_KEY: ClassVar[int] = 6
    VERSIONS: ClassVar[tuple[int, int]] = (0, 8)
    FLEXIBLE: ClassVar[int] = 6

    controller_id: int = field(INT32, "0+")
    is_k_raft_controller: bool = field(BOOL, "8+")
    type: int = field(INT8, "8+", tag=0)
    controller_epoch: int = field(INT32, "0+")
    broker_epoch: int = field(INT64, "5+", default=-1)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = field(
        array(UpdateMetadataPartitionState), "0-4"
    )
    topic_states: list[UpdateMetadataTopicState] = field(array(UpdateMetadataTopicState), "5+")
    live_brokers: list[UpdateMetadataBroker] = field(array(UpdateMetadataBroker), "0+")


@struct
class UpdateMetadataResponse(Message):
    API_KEY: ClassVar[int] = 6
    VERSIONS: ClassVar[tuple[int, int]] = (0, 8)
    FLEXIBLE: ClassVar[int] = 6

    error_code: int = field(INT16, "0+")
