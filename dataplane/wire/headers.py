"""Frames and headers: 4-byte size, then a request or response header, then the body."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from dataplane.model.errors import ErrorCode
from dataplane.wire.apis import API_TABLE, ApiKey
from dataplane.wire.codec import encode_into
from dataplane.wire.errors import WireError
from dataplane.wire.primitives import skip_tags

if TYPE_CHECKING:
    from dataplane.wire.schema import Message

SIZE_BYTES = 4
_FIXED = struct.Struct(">hhih").unpack_from
_FIXED_V0 = struct.Struct(">hhi")
_SIZE = struct.Struct(">i")
_RESPONSE = struct.Struct(">ii")
_UNSUPPORTED = struct.Struct(">iibh").pack
_UNSUPPORTED_BYTES = 7
_CONTROLLED_SHUTDOWN = int(ApiKey.CONTROLLED_SHUTDOWN)
_API_VERSIONS = int(ApiKey.API_VERSIONS)
# Every version of every API, and whether its header has a tag section: one look for each request.
_IS_FLEXIBLE = {
    (int(key), version): spec.is_flexible(version)
    for key, spec in API_TABLE.items()
    for version in range(spec.min_version, spec.max_version + 1)
}


class RequestHeader(NamedTuple):
    """`body_position` is the offset of the body in the buffer that was parsed.

    `version_known` is False when the API or version is not in the table: then the header was read
    without its tag section, the body must not be parsed, and the answer is UNSUPPORTED_VERSION.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int
    version_known: bool = True


def parse_request_header(buf: memoryview, pos: int = 0) -> RequestHeader:
    """Read a request header of whatever version its API needs. Raises WireError."""
    try:
        key, version, correlation_id, length = _FIXED(buf, pos)
        if key == _CONTROLLED_SHUTDOWN and version == 0:  # the only one with header v0
            return RequestHeader(key, version, correlation_id, None, pos + 8)
        pos += 10
        client_id = None
        if length >= 0:
            end = pos + length
            if end > len(buf):
                raise WireError("client id is longer than the frame")
            client_id = str(buf[pos:end], "utf-8")
            pos = end
        is_flexible = _IS_FLEXIBLE.get((key, version))
        if is_flexible:
            pos = skip_tags(buf, pos, len(buf))
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"request header: {error}") from error
    return RequestHeader(key, version, correlation_id, client_id, pos, is_flexible is not None)


def has_flexible_response_header(api_key: int, version: int) -> bool:
    """ApiVersions answers with header v0 always, so that a client of any age can read it."""
    return api_key != _API_VERSIONS and _IS_FLEXIBLE[api_key, version]


def parse_response_header(buf: memoryview, api_key: int, version: int) -> tuple[int, int]:
    """Correlation id and body position of a response frame (without its size). For clients."""
    try:
        (correlation_id,) = _SIZE.unpack_from(buf, 0)
        pos = 4
        if has_flexible_response_header(api_key, version):
            pos = skip_tags(buf, pos, len(buf))
    except (struct.error, IndexError) as error:
        raise WireError(f"response header: {error}") from error
    return correlation_id, pos


def encode_response_frame(message: Message, version: int, correlation_id: int) -> bytearray:
    """A whole response: size, header, body."""
    out = bytearray(_RESPONSE.pack(0, correlation_id))
    if has_flexible_response_header(message.API_KEY, version):
        out.append(0)
    encode_into(message, version, out)
    _SIZE.pack_into(out, 0, len(out) - SIZE_BYTES)
    return out


def encode_unsupported_frame(correlation_id: int) -> bytes:
    """An answer to what has no shape here: response header v1, UNSUPPORTED_VERSION, nothing more.

    What is not known is newer than all that is, and so flexible.
    """
    return _UNSUPPORTED(_UNSUPPORTED_BYTES, correlation_id, 0, ErrorCode.UNSUPPORTED_VERSION)


def encode_request_frame(
    message: Message, version: int, correlation_id: int, client_id: str | None
) -> bytearray:
    """A whole request: size, header, body."""
    key = message.API_KEY
    out = bytearray(_SIZE.pack(0))
    out += _FIXED_V0.pack(key, version, correlation_id)
    if not (key == ApiKey.CONTROLLED_SHUTDOWN and version == 0):
        name = client_id.encode() if client_id is not None else b""
        out += struct.pack(">h", len(name) if client_id is not None else -1)
        out += name
    if API_TABLE[ApiKey(key)].is_flexible(version):
        out.append(0)
    encode_into(message, version, out)
    _SIZE.pack_into(out, 0, len(out) - SIZE_BYTES)
    return out
