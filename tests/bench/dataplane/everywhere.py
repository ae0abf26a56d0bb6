"""One record to every partition with acks=all, and the wait until each is acknowledged."""

from __future__ import annotations

import socket
import struct
import time
from typing import TYPE_CHECKING

from dataplane.wire.codec import decode
from dataplane.wire.headers import parse_response_header
from dataplane.wire.messages.produce import ProduceResponse
from tests.bench.dataplane import frames, protocol
from tests.bench.dataplane.load import BenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.dataplane.cluster import Cluster

ALL = -1
TRIES_S_MAX = 60.0
# What a partition answers while a change of its leader or its followers is on the way.
TEMPORARY = frozenset({3, 6, 7, 19, 20})


def produce_everywhere(cluster: Cluster, topics: Sequence[str]) -> None:
    """BenchError when a partition does not acknowledge within a minute."""
    with protocol.Client(cluster.port) as client:
        metadata = client.metadata(topics)
    ports = {broker.node_id: broker.port for broker in metadata.brokers}
    left = [
        (ports[partition.leader_id], each.name or "", partition.partition_index)
        for each in metadata.topics
        for partition in each.partitions
    ]
    deadline = time.monotonic() + TRIES_S_MAX
    while left:
        left = [place for port in set(ports.values()) for place in _refused(port, left)]
        if left and time.monotonic() > deadline:
            raise BenchError(f"{len(left)} partitions do not acknowledge, {left[0]} among them")


def _refused(port: int, places: list[tuple[int, str, int]]) -> list[tuple[int, str, int]]:
    """Those of `places` on this broker that have to be tried again."""
    mine = [place for place in places if place[0] == port]
    records = frames.batch(200)[0]
    again = []
    with socket.create_connection(("127.0.0.1", port), timeout=TRIES_S_MAX) as sock:
        sock.sendall(b"".join(frames.produce(name, index, records, ALL) for _, name, index in mine))
        stream = sock.makefile("rb")
        for place in mine:
            (size,) = struct.unpack(">i", stream.read(4))
            frame = memoryview(stream.read(size))
            _, position = parse_response_header(frame, 0, frames.PRODUCE_VERSION)
            answer, _ = decode(ProduceResponse, frames.PRODUCE_VERSION, frame, position)
            code = answer.responses[0].partition_responses[0].error_code
            if code in TEMPORARY:
                again.append(place)
            elif code:
                raise BenchError(f"producing to {place}: error {code}")
    return again
