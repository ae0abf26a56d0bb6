"""A real connection of `OneBroker` whose reads the test cuts as it likes: bytes in, frames out."""

from __future__ import annotations

import asyncio
from typing import Any

from dataplane.broker.context import ConnectionInfo
from dataplane.server.connection import Connection
from dataplane.server.listener import Listener
from dataplane.server.listener_limits import ListenerLimits
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from dataplane.wire.record_batch import iter_batches
from tests.dataplane.handlers.one_broker import LISTENER, OneBroker, batch


class _Pipe(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sslcontext": "not a plain socket"})
        self.sent = bytearray()
        self.is_over = False

    def write(self, data: Any) -> None:
        self.sent += data

    def close(self) -> None:
        self.is_over = True

    abort = close

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


class OneConnection:
    """`routes` off: every Produce and OffsetCommit takes the long way."""

    def __init__(self, broker: OneBroker, *, routes: bool = True) -> None:
        self.listener = listener = Listener(
            name=LISTENER,
            security_protocol="PLAINTEXT",
            dispatcher=broker.dispatcher,
            metrics=broker.metrics,
            limits=ListenerLimits(),
        )
        self._pipe = _Pipe()
        self._routes = routes
        self.protocol = Connection(listener, broker.dispatcher)
        self.protocol.connection_made(self._pipe)

    @property
    def info(self) -> ConnectionInfo:
        return self.protocol.info

    @property
    def is_over(self) -> bool:
        return self._pipe.is_over

    def read(self, data: bytes) -> None:
        """`data` arrives at once, as far as there is space for it."""
        while data and not self.is_over:
            if not self._routes:
                self.info.produce_route = self.info.commit_route = None
                self.info.last_commit_size = 0
            buffer = self.protocol.get_buffer(-1)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            self.protocol.buffer_updated(count)
            data = data[count:]

    def take(self) -> list[bytes]:
        """The answers that have come since the last call, without their sizes."""
        sent, frames = bytes(self._pipe.sent), []
        while sent:
            size = int.from_bytes(sent[:4], "big")
            assert len(sent) >= 4 + size, "half an answer"
            frames.append(sent[4 : 4 + size])
            sent = sent[4 + size :]
        self._pipe.sent.clear()
        return frames

    async def settle(self) -> list[bytes]:
        """As `take`, after everything that needs no clock has been done."""
        for _ in range(30):
            await asyncio.sleep(0)
        return self.take()


def request(message: Any, version: int, correlation_id: int, client_id: str = "test") -> bytes:
    """One request with its size."""
    return bytes(encode_request_frame(message, version, correlation_id, client_id))


def correlation_ids(frames: list[bytes]) -> list[int]:
    return [int.from_bytes(frame[:4], "big", signed=True) for frame in frames]


def produce(*places: tuple[str, int, bytes | None], acks: int = 1, txn: str | None = None):
    return ProduceRequest(
        transactional_id=txn,
        acks=acks,
        timeout_ms=1_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=index, records=records)]
            )
            for topic, index, records in places
        ],
    )


def to_t(records: bytes | None, *, acks: int = 1, version: int = 9, at: int = 1) -> bytes:
    return request(produce(("t", 0, records), acks=acks), version, at)


def outcomes(frames: list[bytes], version: int = 9) -> list[tuple[int, int]]:
    """Error code and base offset of every partition answered, in order."""
    found = []
    for frame in frames:
        _, position = parse_response_header(memoryview(frame), 0, version)
        response, end = decode(ProduceResponse, version, memoryview(frame), position)
        assert end == len(frame)
        found += [
            (each.error_code, each.base_offset)
            for topic in response.responses
            for each in topic.partition_responses
        ]
    return found


def routed(broker: OneBroker, version: int = 9) -> OneConnection:
    """A connection with a route to t-0, where two batches are."""
    connection = OneConnection(broker)
    connection.read(to_t(batch("a"), version=version) + to_t(batch("b"), version=version))
    assert [code for code, _ in outcomes(connection.take(), version)] == [0, 0]
    assert connection.info.produce_route is not None
    return connection


def logged(broker: OneBroker, topic: str = "t", index: int = 0) -> list[bytes]:
    log = broker.partition(topic, index).log
    found, at = [], log.log_start_offset
    while data := log.read(at, 1 << 20, log.log_end_offset).read():
        for position, head in iter_batches(data):
            found.append(data[position : position + head.batch_length + 12])
            at = head.base_offset + head.last_offset_delta + 1
    return found


def sized(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame
