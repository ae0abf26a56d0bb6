"""The floor: a broker that only parses, checks the CRC, writes and answers, in one event loop.

    python -m tests.bench.dataplane.floor server.properties

What a broker in Python cannot do without; what ours costs above it is our own doing. It keeps no
replicas, checks nothing else and recovers nothing. Produce v8 and Fetch v11 hold one partition, as
the generator sends them, and are read at fixed places; the rare requests go through the codec.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from crc32c import crc32c

from dataplane.config import parse_properties
from dataplane.wire.apis import ApiKey, load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_response_frame, parse_request_header
from dataplane.wire.messages import create_topics, delete_topics, list_offsets, metadata

if TYPE_CHECKING:
    from dataplane.wire.schema import Message

RECEIVE_BYTES = 8 << 20
INDEX_INTERVAL_BYTES = 4096
SENDFILE_BYTES = 200_000
"""From here on `sendfile` costs less than `pread` and `send`."""
CORRUPT_MESSAGE = 2
PRODUCE, FETCH = int(ApiKey.PRODUCE), int(ApiKey.FETCH)
CREATE, DELETE = int(ApiKey.CREATE_TOPICS), int(ApiKey.DELETE_TOPICS)
LIST_OFFSETS, METADATA = int(ApiKey.LIST_OFFSETS), int(ApiKey.METADATA)

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
_UINT32 = struct.Struct(">I")
_INDEX_AND_BYTES = struct.Struct(">ii")
_TOPIC = struct.Struct(">ih")
_PRODUCED = struct.Struct(">iihqqqihi")
_FETCH_PARTITION = struct.Struct(">iiqqi")
_FETCHED_HEAD = struct.Struct(">ihi")
_FETCHED = struct.Struct(">iihqqqiii")
# Within a batch: length (of what follows it), epoch, CRC, what the CRC covers, last offset delta.
_LENGTH_AT, _EPOCH_AT, _CRC_AT, _COVERED_AT, _DELTA_AT, _HEADER_BYTES = 8, 12, 17, 21, 23, 61


class Log:
    """One partition: a file and, in memory, the position of an offset in every 4 KiB."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.end_offset = self.end_position = 0
        self._offsets, self._positions = [0], [0]

    def append(self, batch: memoryview, records: int) -> None:
        if os.write(self.file, batch) != len(batch):
            raise OSError(f"{self.path}: a batch was not written whole")
        if self.end_position - self._positions[-1] >= INDEX_INTERVAL_BYTES:
            self._offsets.append(self.end_offset)
            self._positions.append(self.end_position)
        self.end_position += len(batch)
        self.end_offset += records

    def find(self, offset: int, bytes_max: int) -> tuple[int, int]:
        """Position and size of what a fetch from `offset` is answered with, one batch at least."""
        position = self._positions[bisect_right(self._offsets, offset) - 1]
        while position < self.end_position:
            head = os.pread(self.file, _HEADER_BYTES, position)
            size = _LENGTH_AT + 4 + _INT32.unpack_from(head, _LENGTH_AT)[0]
            if _INT64.unpack_from(head)[0] + _INT32.unpack_from(head, _DELTA_AT)[0] >= offset:
                return position, min(self.end_position - position, max(bytes_max, size))
            position += size
        return position, 0


class Topics:
    """The logs, and the requests that come once a sample."""

    def __init__(self, port: int, directory: Path) -> None:
        self.logs: dict[tuple[bytes, int], Log] = {}
        self._port, self._directory = port, directory
        directory.mkdir(parents=True, exist_ok=True)

    def answer(self, frame: memoryview) -> bytes:
        header = parse_request_header(frame)
        request_class = load(header.api_key)[0]
        request, _ = decode(request_class, header.api_version, frame, header.body_position)
        handle = {
            CREATE: self._create,
            DELETE: self._delete,
            LIST_OFFSETS: self._list_offsets,
            METADATA: self._metadata,
        }[header.api_key]
        answer = handle(request)
        return bytes(encode_response_frame(answer, header.api_version, header.correlation_id))

    def _create(self, request: Any) -> Message:
        for topic in request.topics:
            for index in range(topic.num_partitions):
                path = self._directory / f"{topic.name}-{index}.log"
                self.logs[topic.name.encode(), index] = Log(path)
        results = [create_topics.CreatableTopicResult(name=each.name) for each in request.topics]
        return create_topics.CreateTopicsResponse(topics=results)

    def _delete(self, request: Any) -> Message:
        for name in request.topic_names:
            for key in [key for key in self.logs if key[0] == name.encode()]:
                log = self.logs.pop(key)
                os.close(log.file)
                log.path.unlink()
        results = [delete_topics.DeletableTopicResult(name=name) for name in request.topic_names]
        return delete_topics.DeleteTopicsResponse(responses=results)

    def _list_offsets(self, request: Any) -> Message:
        topics = []
        for topic in request.topics:
            ends = [
                list_offsets.ListOffsetsPartitionResponse(
                    partition_index=each.partition_index,
                    offset=self.logs[topic.name.encode(), each.partition_index].end_offset,
                )
                for each in topic.partitions
            ]
            topics.append(list_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=ends))
        return list_offsets.ListOffsetsResponse(topics=topics)

    def _metadata(self, request: Any) -> Message:
        topics = []
        for topic in request.topics or ():
            partitions = [
                metadata.MetadataResponsePartition(
                    partition_index=index, leader_id=0, replica_nodes=[0], isr_nodes=[0]
                )
                for name, index in self.logs
                if name == topic.name.encode()
            ]
            topics.append(metadata.MetadataResponseTopic(name=topic.name, partitions=partitions))
        broker = metadata.MetadataResponseBroker(node_id=0, host="127.0.0.1", port=self._port)
        return metadata.MetadataResponse(brokers=[broker], controller_id=0, topics=topics)


class Connection(asyncio.BufferedProtocol):
    """Answers whatever whole requests a read brought, with one write for all of them."""

    def __init__(self, topics: Topics) -> None:
        self._topics, self._logs = topics, topics.logs
        self._data = bytearray(RECEIVE_BYTES)
        self._view = memoryview(self._data)
        self._fill = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        number = transport.get_extra_info("socket").fileno()
        self._socket = socket.socket(fileno=os.dup(number))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, _error: Exception | None) -> None:
        self._socket.close()

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._view[self._fill :]

    def buffer_updated(self, count: int) -> None:
        self._fill += count
        data, fill, position = self._data, self._fill, 0
        answers: list[bytes] = []
        while fill - position >= 4:
            end = position + 4 + _INT32.unpack_from(data, position)[0]
            if end > fill:
                break
            api_key = data[position + 5]
            if api_key == PRODUCE:
                self._produce(position + 4, answers)
            elif api_key == FETCH:
                self._fetch(position + 4, answers)
            else:
                answers.append(self._topics.answer(self._view[position + 4 : end]))
            position = end
        if answers:
            self._transport.writelines(answers)
        if position:
            self._fill = left = fill - position
            if left:
                self._view[:left] = self._view[position:fill]

    def _produce(self, at: int, answers: list[bytes]) -> None:
        data = self._data
        correlation_id = data[at + 4 : at + 8]
        at += 10 + _INT16.unpack_from(data, at + 8)[0]  # past the client id
        at += 2 + 2 + 4 + 4  # no transactional id; acks, timeout, one topic
        name_end = at + 2 + _INT16.unpack_from(data, at)[0]
        name = bytes(data[at + 2 : name_end])
        index, size = _INDEX_AND_BYTES.unpack_from(data, name_end + 4)
        at = name_end + 12
        log = self._logs[name, index]
        base, error = log.end_offset, 0
        batch = self._view[at : at + size]
        if crc32c(batch[_COVERED_AT:]) == _UINT32.unpack_from(data, at + _CRC_AT)[0]:
            _INT64.pack_into(data, at, base)
            _INT32.pack_into(data, at + _EPOCH_AT, 0)
            log.append(batch, _INT32.unpack_from(data, at + _DELTA_AT)[0] + 1)
        else:
            error = CORRUPT_MESSAGE
        body = b"%b%b%b%b" % (
            correlation_id,
            _TOPIC.pack(1, len(name)),
            name,
            _PRODUCED.pack(1, index, error, base, -1, 0, 0, -1, 0),
        )
        answers += (_INT32.pack(len(body)), body)

    def _fetch(self, at: int, answers: list[bytes]) -> None:
        data = self._data
        correlation_id = data[at + 4 : at + 8]
        at += 10 + _INT16.unpack_from(data, at + 8)[0]  # past the client id
        at += 4 + 4 + 4 + 4 + 1 + 4 + 4 + 4  # from the replica id to the count of topics
        name_end = at + 2 + _INT16.unpack_from(data, at)[0]
        name = bytes(data[at + 2 : name_end])
        index, _epoch, offset, _start, bytes_max = _FETCH_PARTITION.unpack_from(data, name_end + 4)
        log = self._logs[name, index]
        position, size = log.find(offset, bytes_max)
        end = log.end_offset
        head = b"%b%b%b%b%b" % (
            correlation_id,
            _FETCHED_HEAD.pack(0, 0, 0),
            _TOPIC.pack(1, len(name)),
            name,
            _FETCHED.pack(1, index, 0, end, end, 0, 0, -1, size),
        )
        head = _INT32.pack(len(head) + size) + head
        if size < SENDFILE_BYTES or answers or self._transport.get_write_buffer_size():
            answers += (head, os.pread(log.file, size, position))
        else:
            self._send_file(head, log.file, position, size)

    def _send_file(self, head: bytes, file: int, position: int, size: int) -> None:
        """Past the transport, and waiting: as little work as can be."""
        self._socket.setblocking(True)
        self._socket.sendall(head, socket.MSG_MORE)
        end = position + size
        while position < end:
            position += os.sendfile(self._socket.fileno(), file, position, end - position)
        self._socket.setblocking(False)


async def main(config: Path) -> None:
    settings = parse_properties(config.read_text())
    port = int(settings["listeners"].rsplit(":", 1)[1])
    topics = Topics(port, Path(settings["log.dirs"]))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(topics), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
