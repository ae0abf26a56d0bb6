"""What the fault tests share: a writer that knows what was acknowledged, and readers."""

from __future__ import annotations

import itertools
import threading
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient


class Writer:
    """Writes numbered records until told to stop; knows which were acknowledged, and when."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.acknowledged: list[int] = []
        self.acknowledged_at: list[float] = []
        self.failed: list[str] = []
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "enable.idempotence": True,
                "linger.ms": 2,
                "delivery.timeout.ms": 60_000,
                "retry.backoff.max.ms": 200,
            }
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            try:
                self._producer.produce(
                    self._topic, str(number).encode(), on_delivery=self._delivered
                )
                number += 1
            except BufferError:
                self._producer.poll(0.05)
            self._producer.poll(0)
            time.sleep(0.0005)
        self._producer.flush(90)

    def _delivered(self, error, message) -> None:
        if error is not None:
            self.failed.append(str(error))
            return
        self.acknowledged.append(int(message.value()))
        self.acknowledged_at.append(time.monotonic())

    def longest_silence(self, since: float) -> float:
        """The longest time without an acknowledgement after `since`, in seconds."""
        times = [since, *(at for at in self.acknowledged_at if at > since)]
        return max(after - before for before, after in itertools.pairwise(times))

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def leader_of(bootstrap: str, topic: str) -> int:
    metadata = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, 10)
    return metadata.topics[topic].partitions[0].leader


def read_all(bootstrap: str, topic: str) -> list[int]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    )
    _low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), 20)
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[int] = []
    deadline = time.monotonic() + 60
    while len(values) < high and time.monotonic() < deadline:
        values += [int(m.value()) for m in consumer.consume(1000, 1.0) if m.error() is None]
    consumer.close()
    return values


def controller_of(bootstrap: str) -> int:
    return AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).controller_id
