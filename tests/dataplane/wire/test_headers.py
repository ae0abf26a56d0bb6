"""Frames and headers."""

from __future__ import annotations

import pytest

from dataplane.wire.apis import API_TABLE, ApiKey, load
from dataplane.wire.codec import encode
from dataplane.wire.errors import WireError
from dataplane.wire.headers import (
    encode_request_frame,
    encode_response_frame,
    parse_request_header,
    parse_response_header,
)
from dataplane.wire.messages.api_versions import ApiVersionsResponse
from dataplane.wire.messages.metadata import MetadataResponse


@pytest.mark.parametrize("spec", API_TABLE.values(), ids=lambda spec: spec.name)
def test_headers_of_every_version_are_read_back(spec) -> None:
    request, response = load(spec.key)
    for version in range(spec.max_version + 1):
        for client_id in ("c-1", "", None):
            frame = encode_request_frame(request(), version, 77, client_id)
            assert int.from_bytes(frame[:4]) == len(frame) - 4
            header = parse_request_header(memoryview(frame), 4)
            assert header[:3] == (spec.key, version, 77)
            without_id = spec.key == ApiKey.CONTROLLED_SHUTDOWN and version == 0
            assert header.client_id == (None if without_id else client_id)
            assert header.version_known
            for length in range(4, header.body_position):
                with pytest.raises(WireError):
                    parse_request_header(memoryview(frame)[:length], 4)
        answer = encode_response_frame(response(), version, 78)
        assert int.from_bytes(answer[:4]) == len(answer) - 4
        correlation_id, pos = parse_response_header(memoryview(answer)[4:], spec.key, version)
        assert correlation_id == 78
        tagged = spec.is_flexible(version) and spec.key != ApiKey.API_VERSIONS
        assert bytes(answer[4 : 4 + pos]) == b"\0\0\0\x4e" + b"\0" * tagged


def test_api_versions_answers_with_the_oldest_header() -> None:
    answer = encode_response_frame(ApiVersionsResponse(), 4, 5)
    assert answer[4:] == b"\0\0\0\5" + encode(ApiVersionsResponse(), 4)
    answer = encode_response_frame(MetadataResponse(), 9, 5)
    assert answer[4:] == b"\0\0\0\5\0" + encode(MetadataResponse(), 9)


@pytest.mark.parametrize(("key", "version"), [(18, 99), (999, 0), (3, 13), (3, -1)])
def test_an_unknown_version_is_reported_not_refused(key: int, version: int) -> None:
    frame = key.to_bytes(2, "big") + version.to_bytes(2, "big", signed=True) + b"\0\0\0\7\0\1c???"
    header = parse_request_header(memoryview(frame))
    assert not header.version_known
    assert (header.api_key, header.api_version, header.correlation_id, header.client_id) == (
        key,
        version,
        7,
        "c",
    )
