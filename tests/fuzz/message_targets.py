"""Requests and responses of every API, in every version, and the header in front of them.

The first byte of an input chooses side and version, so that one corpus serves them all.
"""

from __future__ import annotations

import struct
import uuid
from typing import Any

from dataplane.wire.apis import API_TABLE, ApiKey, ApiSpec, load
from dataplane.wire.codec import decode, encode
from dataplane.wire.errors import WireError
from dataplane.wire.fetch_request import parse_fetch
from dataplane.wire.headers import encode_request_frame, parse_request_header
from dataplane.wire.messages.fetch import FetchRequest
from dataplane.wire.messages.produce import ProduceRequest
from dataplane.wire.produce_codec import parse_produce
from tests.dataplane.wire.random_messages import Random
from tests.fuzz.target import Finding, Target

SEEDS_EACH = 3
_FIXED = struct.Struct(">hhih")


def message_targets() -> list[Target]:
    """One target an API, and one for the headers of all."""
    return [*(_api_target(spec) for spec in API_TABLE.values()), _header_target()]


def _api_target(spec: ApiSpec) -> Target:
    choices = [
        (message, version)
        for message in load(spec.key)
        for version in range(spec.min_version, spec.max_version + 1)
    ]

    def run(data: bytes) -> bool:
        if not data:
            return False
        message, version = choices[data[0] % len(choices)]
        body = memoryview(data)[1:]
        try:
            found, end = decode(message, version, body)
        except WireError:
            found = None
        else:
            if not 0 <= end <= len(body):
                raise Finding("overrun", f"{message.__name__} v{version} ends at {end}")
            check_round_trip(found, version)
        if message is ProduceRequest:
            _check_by_hand(_produce_by_hand(version, body), found, version)
        elif message is FetchRequest:
            _check_by_hand(_fetch_by_hand(version, body), found, version)
        return found is not None

    def seeds() -> list[bytes]:
        found = []
        for number, (message, version) in enumerate(choices):
            generator = Random(int(spec.key) * 1000 + number)
            found += [
                bytes([number]) + encode(generator.instance(message, version), version)
                for _ in range(SEEDS_EACH)
            ]
        return found

    return Target(spec.name, run, seeds)


def check_round_trip(found: Any, version: int) -> None:
    """What was read can be written, and is read again as the same."""
    name = f"{type(found).__name__} v{version}"
    try:
        written = encode(found, version)
        again, end = decode(type(found), version, written)
    except WireError as error:
        raise Finding("round trip", f"{name}: {error}") from error
    if end != len(written):
        raise Finding("round trip", f"{name}: {len(written) - end} bytes are left over")
    # Not a number is unlike itself; its bytes are not.
    if again != found and encode(again, version) != written:
        raise Finding("round trip", f"{name}: {found!r} came back as {again!r}")


# -- the codecs written by hand, against the schemas


def _check_by_hand(by_hand: Any, found: Any, version: int) -> None:
    """Both refuse, or both read the same."""
    expected = None if found is None else _parts(found, version)
    if by_hand != expected:
        what = f"v{version} by hand {by_hand!r}, by schema {expected!r}"
        raise Finding("two readings", what, f"v{version}")


def _produce_by_hand(version: int, body: memoryview) -> Any:
    try:
        parts = parse_produce(version, body)
    except WireError:
        return None
    topics = [
        (name, [(index, None if records is None else bytes(records)) for index, records in items])
        for name, items in parts.topics
    ]
    return parts.transactional_id, parts.acks, parts.timeout_ms, topics


def _fetch_by_hand(version: int, body: memoryview) -> Any:
    try:
        parts = parse_fetch(version, body)
    except WireError:
        return None
    topics = [(topic, [tuple(item) for item in items]) for topic, items in parts.topics]
    return (*parts[:8], topics, parts.forgotten, parts.rack_id, parts.cluster_id)


def _parts(found: Any, version: int) -> Any:
    if isinstance(found, ProduceRequest):
        topics = [
            (
                topic.name,
                [
                    (item.index, None if item.records is None else bytes(item.records))
                    for item in topic.partition_data
                ],
            )
            for topic in found.topic_data
        ]
        return found.transactional_id, found.acks, found.timeout_ms, topics
    return _fetch_parts(found, version)


def _fetch_parts(found: FetchRequest, version: int) -> Any:
    def key(topic: Any) -> str | uuid.UUID:
        return topic.topic if version < 13 else topic.topic_id

    topics = [
        (
            key(topic),
            [
                (
                    item.partition,
                    item.fetch_offset,
                    item.partition_max_bytes,
                    item.current_leader_epoch,
                    item.last_fetched_epoch,
                    item.log_start_offset,
                )
                for item in topic.partitions
            ],
        )
        for topic in found.topics
    ]
    state = found.replica_state
    return (
        found.replica_id if version < 15 else state.replica_id,
        state.replica_epoch,
        found.max_wait_ms,
        found.min_bytes,
        found.max_bytes,
        found.isolation_level,
        found.session_id,
        found.session_epoch,
        topics,
        [(key(topic), topic.partitions) for topic in found.forgotten_topics_data],
        found.rack_id,
        found.cluster_id,
    )


# -- headers


def _header_target() -> Target:
    def run(data: bytes) -> bool:
        buffer = memoryview(data)
        try:
            header = parse_request_header(buffer)
        except WireError:
            return False
        if not 8 <= header.body_position <= len(data):
            raise Finding("overrun", f"the body begins at {header.body_position} of {len(data)}")
        name = b"" if header.client_id is None else header.client_id.encode()
        length = -1 if header.client_id is None else len(name)
        plain = _FIXED.pack(header.api_key, header.api_version, header.correlation_id, length)
        again = parse_request_header(memoryview(plain + name + b"\0"))
        if again._replace(body_position=0) != header._replace(body_position=0):
            raise Finding("round trip", f"{header} came back as {again}")
        return True

    def seeds() -> list[bytes]:
        found = []
        for spec in API_TABLE.values():
            for version in (spec.min_version, spec.max_version):
                request = Random(int(spec.key)).instance(load(spec.key)[0], version)
                found += [
                    encode_request_frame(request, version, 7, client_id)[4:]
                    for client_id in (None, "", "a client")
                ]
        return [bytes(each[:64]) for each in found] + [_FIXED.pack(ApiKey.FETCH, 99, 7, -1)]

    return Target("(request header)", run, seeds)
