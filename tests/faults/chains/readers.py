"""Readers of chains' topics: one that follows with read_committed, and one of all in the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, Message, TopicPartition

from tests.faults.chains.chain import CLIENT
from tests.faults.chains.history import Output

READ_S = 60.0


def _consumer(bootstrap: str, isolation: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reads-only",  # without an effect: partitions are assigned by hand
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "check.crcs": True,
            **CLIENT,
        }
    )


def _output(message: Message) -> Output:
    value, partition, offset = message.value(), message.partition(), message.offset()
    assert value is not None
    assert partition is not None
    assert offset is not None
    attempt, _, transformed = value.decode().partition(" ")
    return Output(partition, offset, attempt, transformed)


class Follower:
    """Reads several topics with read_committed as they grow; `found` by topic."""

    def __init__(self, bootstrap: str, topics: Sequence[str], partitions: int) -> None:
        self.found: dict[str, list[Output]] = {topic: [] for topic in topics}
        self._consumer = _consumer(bootstrap, "read_committed")
        self._consumer.assign(
            [TopicPartition(topic, each, 0) for topic in topics for each in range(partitions)]
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower")
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            for message in self._consumer.consume(500, 0.2):
                if message.error() is None:
                    self.found[str(message.topic())].append(_output(message))
        self._consumer.close()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def read_topic(
    bootstrap: str, topic: str, ends: Mapping[int, int], *, isolation: str
) -> list[Output]:
    """Every record below `ends`, which nothing grows beyond. AssertionError if it stops short."""
    consumer = _consumer(bootstrap, isolation)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in ends])
    found: list[Output] = []
    ended: set[int] = set()
    deadline_s = time.monotonic() + READ_S
    while ended != set(ends):
        for message in consumer.consume(1000, 0.5):
            if message.error() is None:
                found.append(_output(message))
            elif (message.offset() or 0) >= ends[int(message.partition() or 0)]:
                ended.add(int(message.partition() or 0))
        assert time.monotonic() < deadline_s, f"{topic}: read to the end of {ended} of {dict(ends)}"
    consumer.close()
    return found
