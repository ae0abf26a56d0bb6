"""Metadata (key 3) responses, written by hand from encoded fragments.

A topic's fragment depends only on the version, the topic's state and what the caller may do, so
callers keep fragments as long as the cluster image lasts; a response of 1000 topics is then a join.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.wire.fragments import optional_string
from dataplane.wire.primitives import write_uvarint
from dataplane.wire.schema import ZERO_UUID

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable, Sequence

    from dataplane.model.partition import PartitionState

FLEXIBLE_FROM = 9
NO_OPERATIONS = -2147483648
"""What stands for "authorized operations were not asked for"."""

_H = struct.Struct(">h").pack
_I = struct.Struct(">i").pack
_PARTITION_V0 = struct.Struct(">hii").pack
_PARTITION_V7 = struct.Struct(">hiii").pack


class MetadataBroker(NamedTuple):
    """One broker, at the endpoint of the listener that asks."""

    node_id: int
    host: str
    port: int
    rack: str | None = None


def encode_topic(
    version: int,
    error_code: int,
    name: str | None,
    topic_id: uuid.UUID = ZERO_UUID,
    *,
    is_internal: bool = False,
    partitions: Iterable[tuple[int, PartitionState]] = (),
    authorized_operations: int = NO_OPERATIONS,
) -> bytes:
    """The fragment of one topic; `partitions` is [(error code, state)].

    `name` may be None from version 12 on: a lookup by an id that nobody knows.
    """
    flexible = version >= FLEXIBLE_FROM
    out = bytearray(_H(error_code))
    out += optional_string(name if version >= 12 else name or "", flexible=flexible)
    if version >= 10:
        out += topic_id.bytes
    if version >= 1:
        out.append(is_internal)
    states = list(partitions)
    if flexible:
        write_uvarint(out, len(states) + 1)
    else:
        out += _I(len(states))
    put = _put_flexible if flexible else _put_classic
    for error, state in states:
        if version >= 7:
            out += _PARTITION_V7(error, state.index, state.leader, state.leader_epoch)
        else:
            out += _PARTITION_V0(error, state.index, state.leader)
        put(out, state.replicas)
        put(out, state.isr)
        if version >= 5:
            put(out, state.offline_replicas)
        if flexible:
            out.append(0)
    if version >= 8:
        out += _I(authorized_operations)
    if flexible:
        out.append(0)
    return bytes(out)


def _put_classic(out: bytearray, ids: Sequence[int]) -> None:
    count = len(ids)
    out += struct.pack(f">i{count}i", count, *ids)


def _put_flexible(out: bytearray, ids: Sequence[int]) -> None:
    count = len(ids)
    if count < 127:
        out += struct.pack(f">B{count}i", count + 1, *ids)
    else:
        write_uvarint(out, count + 1)
        out += struct.pack(f">{count}i", *ids)


def encode_metadata_response(
    version: int,
    correlation_id: int,
    *,
    brokers: Sequence[MetadataBroker],
    cluster_id: str | None,
    controller_id: int,
    topics: Sequence[bytes],
    throttle_time_ms: int = 0,
    cluster_authorized_operations: int = NO_OPERATIONS,
) -> bytearray:
    """The whole frame of a Metadata response; `topics` are fragments of the same version."""
    flexible = version >= FLEXIBLE_FROM
    out = bytearray(_I(0) + _I(correlation_id))
    if flexible:
        out.append(0)
    if version >= 3:
        out += _I(throttle_time_ms)
    _put_count(out, len(brokers), flexible=flexible)
    for broker in brokers:
        out += _I(broker.node_id) + optional_string(broker.host, flexible=flexible)
        out += _I(broker.port)
        if version >= 1:
            out += optional_string(broker.rack, flexible=flexible)
        if flexible:
            out.append(0)
    if version >= 2:
        out += optional_string(cluster_id, flexible=flexible)
    if version >= 1:
        out += _I(controller_id)
    _put_count(out, len(topics), flexible=flexible)
    out += b"".join(topics)
    if 8 <= version <= 10:
        out += _I(cluster_authorized_operations)
    if flexible:
        out.append(0)
    out[:4] = _I(len(out) - 4)
    return out


def _put_count(out: bytearray, count: int, *, flexible: bool) -> None:
    if flexible:
        write_uvarint(out, count + 1)
    else:
        out += _I(count)
