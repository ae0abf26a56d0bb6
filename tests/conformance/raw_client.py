"""A client that speaks bytes: what a broker answers when it is not spoken to as it should be."""

from __future__ import annotations

import contextlib
import socket
import struct
import urllib.request
from typing import TYPE_CHECKING, Any

from dataplane.wire.apis import API_TABLE, load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.messages.api_versions import ApiVersionsRequest
from dataplane.wire.messages.metadata import MetadataRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.local_cluster import LocalCluster


# Kafka's names; a broker may lack any of them.
API_NAMES = {int(key): spec.name for key, spec in API_TABLE.items()}


def offered_versions(bootstrap: str) -> dict[str, tuple[int, int]]:
    """Name to lowest and highest version that the first broker offers."""
    host, port = bootstrap.split(",", maxsplit=1)[0].split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        response = ask(sock, ApiVersionsRequest(), 0)
    return {
        API_NAMES[entry.api_key]: (entry.min_version, entry.max_version)
        for entry in response.api_keys
        if entry.api_key in API_NAMES
    }


@contextlib.contextmanager
def connected(cluster: LocalCluster, broker: int = 0) -> Iterator[socket.socket]:
    host, port = cluster.bootstrap.split(",")[broker].split(":")
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        yield sock


def read_frame(sock: socket.socket) -> bytes | None:
    """One answer, or None when the broker closed the connection."""
    with contextlib.suppress(ConnectionError):
        head = _read(sock, 4)
        if head is not None:
            return _read(sock, struct.unpack(">i", head)[0])
    return None


def _read(sock: socket.socket, size: int) -> bytes | None:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            return None
        data += part
    return data


def ask(sock: socket.socket, message: Any, version: int) -> Any:
    """The decoded answer, or None when the broker closed the connection instead."""
    sock.sendall(encode_request_frame(message, version, 7, "raw"))
    frame = read_frame(sock)
    if frame is None:
        return None
    correlation_id, position = parse_response_header(memoryview(frame), message.API_KEY, version)
    assert correlation_id == 7
    response, end = decode(load(message.API_KEY)[1], version, frame, position)
    assert end == len(frame)
    return response


def header(api_key: int, version: int) -> bytes:
    """A request header up to a null client id."""
    return struct.pack(">hhih", api_key, version, 7, -1)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def assert_alive(cluster: LocalCluster) -> None:
    with connected(cluster) as sock:
        response = ask(sock, MetadataRequest(topics=[]), 9)
        assert response is not None
        assert len(response.brokers) == cluster.brokers


def metrics(port: int) -> dict[str, float]:
    """What a scrape of the broker's metrics page says."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")
    }
