"""The few cold requests that a benchmark needs, over one blocking socket."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any, Self

from dataplane.wire.apis import load
from dataplane.wire.codec import decode
from dataplane.wire.headers import encode_request_frame, parse_response_header
from dataplane.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from dataplane.wire.messages.delete_topics import DeleteTopicsRequest
from dataplane.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from dataplane.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.bench.dataplane.load import BenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.wire.schema import Message

TIMEOUT_S = 180.0
LATEST = -1
# Classic encodings that every 3.x broker serves, and of Produce the one of `frames`.
VERSIONS = {
    0: 8,
    2: 5,
    3: 8,
    8: 5,
    9: 5,
    10: 2,
    11: 3,
    12: 2,
    14: 2,
    17: 1,
    19: 4,
    20: 3,
    22: 1,
    24: 2,
    26: 2,
    30: 1,
    36: 1,
}
CORRELATION_ID = 7
NOT_CONTROLLER = 41


def encoded(request: Message) -> bytes:
    version = VERSIONS[request.API_KEY]
    return bytes(encode_request_frame(request, version, CORRELATION_ID, "bench"))


def decoded(api_key: int, answer: bytes) -> Any:
    """`answer` is without its size."""
    frame, version = memoryview(answer), VERSIONS[api_key]
    _, position = parse_response_header(frame, api_key, version)
    return decode(load(api_key)[1], version, frame, position)[0]


class Client:
    """One connection. Errors of the network are OSError, of the protocol BenchError."""

    def __init__(
        self, port: int, timeout_s: float = TIMEOUT_S, connected: socket.socket | None = None
    ) -> None:
        self._socket = connected or socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, request: Message) -> Any:
        self._socket.sendall(encoded(request))
        head = self._file.read(4)
        if len(head) < 4:
            raise ConnectionResetError("the broker closed the connection")
        return decoded(request.API_KEY, self._file.read(int.from_bytes(head, "big")))

    def metadata(self, topics: Sequence[str] | None = ()) -> MetadataResponse:
        """None asks for every topic."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        answer: MetadataResponse = self.ask(
            MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        )
        return answer

    def end_offsets(self, topic: str, partitions: Sequence[int]) -> int:
        """The sum of the high watermarks of partitions that this broker leads."""
        answered = self._list_offsets(topic, partitions)
        if any(each.error_code for each in answered):
            raise BenchError(f"ListOffsets of {topic}: {[each.error_code for each in answered]}")
        return sum(each.offset for each in answered)

    def serves(self, topic: str, partitions: Sequence[int]) -> bool:
        """Whether the broker answers for each of the partitions as their leader."""
        return not any(each.error_code for each in self._list_offsets(topic, partitions))

    def _list_offsets(self, topic: str, partitions: Sequence[int]) -> list[Any]:
        asked = [ListOffsetsPartition(partition_index=p, timestamp=LATEST) for p in partitions]
        answer = self.ask(
            ListOffsetsRequest(
                replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)]
            )
        )
        answered: list[Any] = answer.topics[0].partitions
        return answered


def controller_port(port: int) -> int:
    with Client(port) as client:
        answer = client.metadata()
        for broker in answer.brokers:
            if broker.node_id == answer.controller_id:
                return broker.port
    raise BenchError("the cluster has no controller")


def create_topics(port: int, topics: Sequence[CreatableTopic], timeout_ms: int = 120_000) -> None:
    """All in one request to the controller, whoever of the cluster listens on `port`."""
    deadline = time.monotonic() + 30
    while True:
        with Client(controller_port(port)) as client:
            answer = client.ask(CreateTopicsRequest(topics=list(topics), timeout_ms=timeout_ms))
        wrong = {each.name: each.error_code for each in answer.topics if each.error_code}
        if not wrong:
            return
        if set(wrong.values()) != {NOT_CONTROLLER} or time.monotonic() > deadline:
            raise BenchError(f"CreateTopics: {dict(list(wrong.items())[:3])}")
        time.sleep(0.1)


def topic(name: str, partitions: int, replicas: int) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)


def assigned_topic(name: str, assignments: Sequence[Sequence[int]]) -> CreatableTopic:
    placed = [
        CreatableReplicaAssignment(partition_index=number, broker_ids=list(replicas))
        for number, replicas in enumerate(assignments)
    ]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=placed)


def delete_topic(port: int, name: str) -> None:
    with Client(controller_port(port)) as client:
        answer = client.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=30_000))
    if answer.responses[0].error_code:
        raise BenchError(f"DeleteTopics {name}: {answer.responses[0].error_code}")


def is_full(answer: MetadataResponse, partitions: int, replicas: int) -> bool:
    """Whether `partitions` in all have a leader and `replicas` in sync."""
    seen = 0
    for each in answer.topics:
        for partition in each.partitions:
            if (
                each.error_code
                or partition.error_code
                or partition.leader_id < 0
                or len(partition.isr_nodes) != replicas
            ):
                return False
            seen += 1
    return seen == partitions
