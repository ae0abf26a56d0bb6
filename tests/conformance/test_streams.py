"""Kafka Streams: a word count with exactly_once_v2, killed half-way, on brokers one of which is killed too."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import queue
import struct
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.conformance import java_tools
from tests.conformance.conftest import QUICK
from tests.local_cluster import LocalCluster, eventually, local_cluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

WORDS = [f"word{number}" for number in range(20)]
LINES = 2_000
PARTITIONS = 3
READ_TIMEOUT_S = 90.0


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The class path with the program compiled."""
    if reason := java_tools.unavailable():
        pytest.skip(reason)
    return java_tools.compiled(tmp_path_factory.mktemp("classes"), "WordCount.java")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Of its own: a broker of it is killed."""
    settings = {
        **QUICK,
        "transaction.state.log.num.partitions": "4",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "group.min.session.timeout.ms": "1000",
    }
    with local_cluster(tmp_path_factory.mktemp("streams"), settings=settings) as started:
        yield started


class Application:
    """One running instance."""

    def __init__(self, class_path: str, *arguments: str) -> None:
        command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", class_path, "WordCount"]
        self.process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.said: list[str] = []
        self._running: queue.Queue[bool] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if line.startswith("state RUNNING"):
                self._running.put(True)
        self._running.put(False)

    def wait_until_running(self, timeout_s: float = 60.0) -> None:
        assert self._running.get(timeout=timeout_s), "\n".join(self.said[-30:])

    def end(self, *, kill: bool) -> None:
        if self.process.poll() is None:
            (self.process.kill if kill else self.process.terminate)()
        self.process.wait(30)


def lines() -> list[str]:
    """Three words a line, unevenly frequent."""
    return [
        " ".join(WORDS[(number * step) % (5 + step)] for step in (1, 3, 7))
        for number in range(LINES)
    ]


def send(cluster: LocalCluster, topic: str, items: list[str]) -> None:
    """Slowly enough that the kills find work half done."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True})
    for number, item in enumerate(items):
        producer.produce(topic, item, key=str(number))
        if number % 50 == 49:
            producer.poll(0)
            time.sleep(0.2)
    assert producer.flush(60) == 0


def counts(cluster: LocalCluster, topic: str, expected: int) -> dict[str, list[int]]:
    """Every committed count of every word, in its order; waits for `expected` of them, then for more."""
    reader = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "unused",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    reader.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: dict[str, list[int]] = collections.defaultdict(list)
    ends = time.monotonic() + READ_TIMEOUT_S
    with contextlib.closing(reader):
        while time.monotonic() < ends:
            message = reader.poll(0.5)
            if message is not None and not message.error():
                (count,) = struct.unpack(">q", message.value())
                found[message.key().decode()].append(count)
                if sum(map(len, found.values())) >= expected:
                    # Whatever is doubled would follow within a commit or two.
                    ends = min(ends, time.monotonic() + 3)
    return found


def committed(cluster: LocalCluster, topic: str) -> int:
    """Records below the last stable offsets."""
    reader = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "x",
            "isolation.level": "read_committed",
        }
    )
    with contextlib.closing(reader):
        partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
        return sum(reader.get_watermark_offsets(each, 10)[1] for each in partitions)


def test_words_are_counted_exactly_once_through_kills(
    cluster: LocalCluster, classes: str, tmp_path: pathlib.Path
) -> None:
    name = f"words-{uuid.uuid4().hex[:6]}"
    source, target = f"{name}-lines", f"{name}-counts"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    wanted = [NewTopic(topic, PARTITIONS, 3) for topic in (source, target)]
    for each in admin.create_topics(wanted).values():
        each.result(30)
    arguments = (cluster.bootstrap, name, source, target, str(tmp_path / "state"))
    items = lines()
    expected = collections.Counter(word for line in items for word in line.split())
    sending = threading.Thread(target=send, args=(cluster, source, items))

    first = Application(classes, *arguments)
    second = None
    try:
        first.wait_until_running()
        sending.start()
        for _ in eventually(60, "some counts are committed"):
            if committed(cluster, target) > 500:
                break
        first.end(kill=True)
        assert committed(cluster, target) < sum(expected.values()) / 2, "it was killed half-way"
        second = Application(classes, *arguments)
        second.wait_until_running()
        for _ in eventually(60, "the second instance counts"):
            if committed(cluster, target) > 1500:
                break
        os.kill(cluster.broker_pid(1), 9)
        sending.join(90)
        found = counts(cluster, target, sum(expected.values()))
        assert second.process.poll() is None, "\n".join(second.said[-30:])
    finally:
        first.end(kill=True)
        if second is not None:
            second.end(kill=False)
    # Each count once and in its order: none left out, none made twice.
    assert {word: len(each) for word, each in found.items()} == dict(expected)
    assert all(each == list(range(1, len(each) + 1)) for each in found.values())
