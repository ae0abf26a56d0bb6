"""The schema-driven codec for every API in every version, and against hostile bytes."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from dataplane.wire.apis import API_TABLE, ApiSpec, load
from dataplane.wire.codec import decode, encode, encode_versioned, versioned_decoder
from dataplane.wire.errors import WireError
from dataplane.wire.messages.leader_and_isr import LeaderAndIsrRequest
from dataplane.wire.messages.list_offsets import ListOffsetsRequest
from dataplane.wire.messages.metadata import MetadataRequest, MetadataResponse
from dataplane.wire.messages.sasl_authenticate import SaslAuthenticateRequest
from dataplane.wire.messages.update_metadata import UpdateMetadataRequest
from dataplane.wire.schema import (
    INT8,
    INT32,
    INT64,
    STRING,
    Message,
    array,
    field,
    struct,
)
from tests.dataplane.wire.random_messages import Random

every_api = pytest.mark.parametrize("spec", API_TABLE.values(), ids=lambda spec: spec.name)


def sides(spec: ApiSpec) -> Iterator[tuple[type, int, Random]]:
    """Request and response in every version, with a generator of instances for each."""
    for version in range(spec.min_version, spec.max_version + 1):
        for cls in load(spec.key):
            yield cls, version, Random(int(spec.key) * 100 + version)


@every_api
def test_messages_and_table_agree(spec: ApiSpec) -> None:
    for cls in load(spec.key):
        assert spec.key == cls.API_KEY
        assert (spec.min_version, spec.max_version) == cls.VERSIONS
        assert spec.flexible_from == cls.FLEXIBLE


@every_api
def test_what_is_written_is_read_back(spec: ApiSpec) -> None:
    for cls, version, generator in sides(spec):
        for _ in range(6):
            message = generator.instance(cls, version)
            encoded = encode(message, version)
            shifted = memoryview(b"##" + encoded + b"##")
            back, end = decode(cls, version, shifted, 2)
            assert back == message
            assert end == 2 + len(encoded)
            assert encode(back, version) == encoded


@every_api
def test_truncation_anywhere_is_refused(spec: ApiSpec) -> None:
    for cls, version, generator in sides(spec):
        encoded = memoryview(encode(generator.instance(cls, version), version))
        step = max(1, len(encoded) // 80)
        for length in range(0, len(encoded), step):
            with pytest.raises(WireError):
                decode(cls, version, encoded[:length])


@every_api
def test_flipped_bytes_are_read_or_refused_and_nothing_else(spec: ApiSpec) -> None:
    rng = random.Random(spec.key)
    for cls, version, generator in sides(spec):
        encoded = bytearray(encode(generator.instance(cls, version), version))
        for _ in range(20 if encoded else 0):
            damaged = bytearray(encoded)
            for _ in range(rng.randrange(1, 4)):
                damaged[rng.randrange(len(damaged))] = rng.choice((0, 0x7F, 0x80, 0xFF, 1))
            try:
                read, end = decode(cls, version, damaged)
            except WireError:
                continue
            assert isinstance(read, cls)
            assert end <= len(damaged)


@pytest.mark.parametrize(
    ("cls", "version", "body"),
    [
        (ListOffsetsRequest, 1, b"\0\0\0\0" + b"\x7f\xff\xff\xff"),
        (ListOffsetsRequest, 6, b"\0\0\0\0\0" + b"\xff\xff\xff\xff\x0f"),
        (MetadataRequest, 1, b"\x7f\xff\xff\xff"),
        (MetadataRequest, 9, b"\xff\xff\xff\xff\x0f"),
        (SaslAuthenticateRequest, 0, b"\x7f\xff\xff\xff"),
        (LeaderAndIsrRequest, 1, b"\0" * 8 + b"\x7f\xff\xff\xff" + b"\0" * 100),
    ],
)
def test_a_hostile_length_allocates_nothing(cls: Any, version: int, body: bytes) -> None:
    with pytest.raises(WireError):
        decode(cls, version, body)
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            decode(cls, version, body)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("body", [b"\xff\xff\xff\xff\xff\x01", b"\xff\xff\xff\xff\x7f"])
def test_an_overlong_varint_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        decode(MetadataRequest, 9, body)


def test_a_negative_length_other_than_null_is_refused() -> None:
    with pytest.raises(WireError):
        decode(MetadataRequest, 1, b"\xff\xff\xff\xfe")
    assert decode(MetadataRequest, 1, b"\xff\xff\xff\xff")[0].topics is None


def test_null_where_it_is_not_allowed_is_refused() -> None:
    with pytest.raises(WireError):
        decode(MetadataRequest, 0, b"\xff\xff\xff\xff")
    with pytest.raises(WireError):
        encode(MetadataRequest(topics=None), 0)


def test_bad_utf8_is_refused() -> None:
    with pytest.raises(WireError):
        decode(MetadataRequest, 0, b"\0\0\0\1\0\1\xff")


def test_a_version_outside_the_range_is_refused() -> None:
    for version in (-1, 13):
        with pytest.raises(WireError):
            decode(MetadataRequest, version, b"\0" * 20)
        with pytest.raises(WireError):
            encode(MetadataRequest(), version)


def test_a_number_out_of_range_cannot_be_written() -> None:
    with pytest.raises(WireError):
        encode(ListOffsetsRequest(replica_id=2**31), 1)
    with pytest.raises(WireError):
        encode(MetadataResponse(cluster_id="x" * 40_000), 9)


@struct
class Inner:
    name: str = field(STRING, "0+")


@struct
class Tagged(Message):
    FLEXIBLE: ClassVar[int] = 1

    plain: int = field(INT8, "0+")
    first: int = field(INT64, "1+", default=-1, tag=0)
    second: list[int] = field(array(INT32), "1+", tag=3)
    third: Inner = field(Inner, "1+", tag=7)
    maybe: Inner | None = field(Inner, "0+", nullable="0+", default=None)


def test_tags_are_written_only_when_they_differ_from_the_default() -> None:
    assert encode(Tagged(), 1) == b"\0\xff\0"
    assert encode(Tagged(third=Inner(name="x")), 1) == b"\0\xff\1\7\3\2x\0"
    message = Tagged(plain=1, first=2, second=[3, 4], third=Inner(name="x"), maybe=Inner(name="y"))
    assert decode(Tagged, 1, encode(message, 1))[0] == message


def test_unknown_tags_are_skipped() -> None:
    body = b"\5\xff" + b"\3" + b"\1\2ab" + b"\3\5\2\0\0\0\x09" + b"\x80\1\1z"
    message, end = decode(Tagged, 1, body)
    assert (message.plain, message.second, message.first) == (5, [9], -1)
    assert end == len(body)


@struct
class Older(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (0, 1)

    number: int = field(INT8, "0+")
    added: int = field(INT8, "1+", default=-1)


@struct
class Newer(Message):
    VERSIONS: ClassVar[tuple[int, int]] = (2, 2)

    name: str = field(STRING, "2+")


def test_what_begins_with_its_version_is_read_as_the_class_of_that_version() -> None:
    decode_either: Callable[[bytes], Older | Newer] = versioned_decoder(Older, Newer)
    for message, version in (
        (Older(number=7), 0),
        (Older(number=7, added=8), 1),
        (Newer(name="x"), 2),
    ):
        data = encode_versioned(message, version)
        assert data[:2] == version.to_bytes(2)
        assert decode_either(data) == message
        assert decode_either(data + b"what follows") == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes hold no version"),
        (b"\0", "1 bytes hold no version"),
        (b"\xff\xff\7", "Older has no version -1; only 0 to 1"),
        (b"\0\3\7", "Older has no version 3; only 0 to 1"),
        (b"\0\1\7", "Older or Newer v1: "),
        (b"\0\2\0\1\xff", "Older or Newer v2: "),
    ],
)
def test_what_is_of_no_version_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(WireError, match=message):
        versioned_decoder(Older, Newer)(data)


@pytest.mark.parametrize(
    "tags",
    [
        b"\1\0\7" + b"\0" * 7,  # an int64 in seven bytes
        b"\1\0\x09" + b"\0" * 9,  # an int64 in nine bytes
        b"\1\1\x20ab",  # an unknown tag longer than the frame
        b"\x7f",
    ],
)
def test_a_tag_of_the_wrong_size_is_refused(tags: bytes) -> None:
    with pytest.raises(WireError):
        decode(Tagged, 1, b"\0\xff" + tags)


def test_update_metadata_type_is_tagged_before_later_fields() -> None:
    message = UpdateMetadataRequest(controller_id=3, type=2, controller_epoch=7)
    back, _ = decode(UpdateMetadataRequest, 8, encode(message, 8))
    assert back == message


def test_structs_compare_and_show_themselves() -> None:
    assert Inner(name="a") == Inner(name="a")
    assert Inner(name="a") != Inner(name="b")
    assert Inner() != Tagged()
    assert repr(Inner(name="a")) == "Inner(name='a')"
    assert Tagged().second is not Tagged().second
    with pytest.raises(TypeError):
        Inner(nome="a")  # type: ignore[call-arg]  # a misspelt field must be refused
    with pytest.raises(AttributeError):
        Inner().nome = "a"  # type: ignore[attr-defined]  # slots refuse it
