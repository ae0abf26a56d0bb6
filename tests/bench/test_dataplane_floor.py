"""The floor broker and the generator, against each other: what the figures beside it rest on."""

from __future__ import annotations

import select
import socket
import struct
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dataplane.wire.codec import decode
from dataplane.wire.headers import parse_response_header
from dataplane.wire.messages.produce import ProduceResponse
from tests.bench.dataplane import floor, frames, protocol
from tests.bench.dataplane.bench import lanes, produced
from tests.bench.dataplane.cluster import FLOOR, Cluster
from tests.bench.dataplane.generator import run
from tests.bench.dataplane.load import BenchError, drive
from tests.bench.dataplane.task import Lane, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

TOPIC = "t"
BATCH_BYTES = 16 * 1024


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(FLOOR, 1) as started:
        started.start()
        protocol.create_topics(started.port, [protocol.topic(TOPIC, 2, 1)])
        yield started


def produce_task(cluster: Cluster, batches: int) -> Task:
    return Task(
        lanes=lanes(cluster, TOPIC, 2),
        seconds=30,
        payload_bytes_max=batches * BATCH_BYTES,
        in_flight=4,
        batch_bytes=BATCH_BYTES,
    )


@pytest.mark.parametrize("batches_each", [4, 16], ids=["by pread", "by sendfile"])
@pytest.mark.parametrize("in_bursts", [False, True])
def test_the_floor_gives_back_what_it_was_given(
    cluster: Cluster, batches_each: int, in_bursts: bool
) -> None:
    batch, records = frames.batch(BATCH_BYTES)
    size = batches_each * len(batch)
    assert (size >= floor.SENDFILE_BYTES) is (batches_each == 16)
    task = produce_task(cluster, 100)
    outcome, _cpu_s = produced(cluster, replace(task, in_bursts=in_bursts), records)
    assert outcome.requests >= 100
    fetch = Task(
        lanes=[replace(lane, stored_batches=32) for lane in task.lanes],
        seconds=30,
        payload_bytes_max=20 * size,
        in_flight=4,
        in_bursts=in_bursts,
        fetch_bytes=size,
        fetch_batches=batches_each,
        records=records,
    )
    fetched, _cpu_s = drive(fetch, cluster.pids)
    assert fetched.requests >= 20
    assert fetched.payload_bytes == fetched.requests * size
    assert fetched.cpu_s > 0


def test_the_floor_checks_the_crc(cluster: Cluster) -> None:
    batch, _records = frames.batch(BATCH_BYTES)
    broken = batch[:-1] + bytes([batch[-1] ^ 1])
    codes = []
    with socket.create_connection(("127.0.0.1", cluster.port)) as sock:
        for each in (broken, batch):
            sock.sendall(frames.produce(TOPIC, 0, each, 1))
            stream = sock.makefile("rb")
            frame = memoryview(stream.read(*struct.unpack(">i", stream.read(4))))
            position = parse_response_header(frame, 0, frames.PRODUCE_VERSION)[1]
            answer, end = decode(ProduceResponse, frames.PRODUCE_VERSION, frame, position)
            assert end == len(frame)
            codes.append(answer.responses[0].partition_responses[0].error_code)
    assert codes == [floor.CORRUPT_MESSAGE, 0]


def test_a_deleted_topic_of_the_floor_leaves_no_file(cluster: Cluster) -> None:
    task = produce_task(cluster, 4)
    produced(cluster, task, frames.batch(BATCH_BYTES)[1])
    data = cluster.work / "0" / "data"
    assert len(list(data.iterdir())) == 2
    protocol.delete_topic(cluster.port, TOPIC)
    assert list(data.iterdir()) == []
    with pytest.raises(BenchError):
        drive(replace(task, lanes=[Lane(cluster.port, TOPIC, 0)]))


@pytest.mark.parametrize("in_bursts", [False, True])
def test_a_burst_follows_when_everything_is_answered(in_bursts: bool) -> None:
    """So no request carries the acknowledgement of an answer within a burst."""
    in_flight, batch_bytes = 5, 200
    request = len(frames.produce(TOPIC, 0, frames.batch(batch_bytes)[0], 1))
    answer = struct.pack(">i", 60) + bytes(60)
    early: list[bool] = []

    def serve() -> None:
        sock, _address = listener.accept()
        with sock:
            receive(sock, in_flight * request)
            sock.sendall(answer * (in_flight - 1))
            readable, _, _ = select.select([sock], [], [], 0.3)
            early.append(bool(readable))
            sock.sendall(answer)
            receive(sock, in_flight * request)
            sock.sendall(answer * in_flight)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        task = Task(
            lanes=[Lane(listener.getsockname()[1], TOPIC, 0)],
            seconds=30,
            payload_bytes_max=in_flight * batch_bytes,
            in_flight=in_flight,
            in_bursts=in_bursts,
            batch_bytes=batch_bytes,
            is_dummy=True,
        )
        outcome = run(task)
        server.join(30)
    assert outcome.requests == 2 * in_flight
    assert early == [not in_bursts]


def receive(sock: socket.socket, size: int) -> None:
    while size:
        size -= len(sock.recv(size))
