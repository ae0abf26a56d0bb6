"""Applications that write and read at a pace: each a thread with a client of its own."""

import threading
import time
from collections import Counter

from confluent_kafka import KafkaException, Message, Producer, TopicPartition

from tests.controlplane.live.clients import Clients

TICK_S = 0.2
RUNNING: "list[Writing | Reading]" = []


def stop_all() -> None:
    """Those that an incident which failed has left."""
    for each in RUNNING:
        each.ask_to_stop()
    for each in RUNNING:
        each.stop()


class Writing:
    """Writes `per_s` records a second, over the partitions in turn."""

    def __init__(self, clients: Clients, topic: str, *, per_s: float, partitions: int) -> None:
        self._producer = Producer({**clients.config, "log_level": 0})
        self._topic, self._per_s, self._partitions = topic, per_s, partitions
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        RUNNING.append(self)

    def _run(self) -> None:
        began_s, sent = time.monotonic(), 0
        while not self._stop.wait(TICK_S):
            while sent < (time.monotonic() - began_s) * self._per_s:
                part = sent % self._partitions
                self._producer.produce(self._topic, b"x" * 100, partition=part)
                sent += 1
            self._producer.poll(0)

    def ask_to_stop(self) -> None:
        self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        if self in RUNNING:
            RUNNING.remove(self)
        self._thread.join(20)
        self._producer.flush(20)


class Reading:
    """A member of a group: reads at most `per_s` records a second, and commits each second.

    What it cannot process, (partition, offset), it tries for ever; it goes on with the other
    partitions. `late_s`: it keeps pace, and processes each record so long after it was written.
    """

    def __init__(
        self,
        clients: Clients,
        topic: str,
        group: str,
        *,
        per_s: float | None = None,
        poison: tuple[int, int] | None = None,
        late_s: float = 0.0,
    ) -> None:
        self.read: Counter[int] = Counter()
        self.first: int | None = None
        self.failures: list[Exception] = []
        self._consumer = clients.consumer(group)
        self._topic, self._per_s, self._poison = topic, per_s, poison
        self._late_s = late_s
        self._held: Message | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        RUNNING.append(self)

    def _run(self) -> None:
        self._consumer.subscribe([self._topic])
        try:
            while not self._stop.is_set():
                try:
                    self._a_second()
                except KafkaException as error:
                    self.failures.append(error)
        finally:
            self._consumer.close()

    def _a_second(self) -> None:
        end_s, count = time.monotonic() + 1.0, 0
        at: dict[int, int] = {}
        while (left_s := end_s - time.monotonic()) > 0 and not self._stop.is_set():
            if self._per_s is not None and count >= self._per_s:
                self._stop.wait(left_s)
                break
            message = self._due(min(left_s, TICK_S))
            if message is None or message.error():
                continue
            part, offset = message.partition(), message.offset()
            if part is None or offset is None:  # only what was not delivered has none
                continue
            if (part, offset) == self._poison:
                self._consumer.pause([TopicPartition(self._topic, part)])
                at.setdefault(part, offset)
                continue
            count += 1
            self.first = offset if self.first is None else self.first
            self.read[part] += 1
            at[part] = offset + 1
        if at:
            found = [TopicPartition(self._topic, part, offset) for part, offset in at.items()]
            self._consumer.commit(offsets=found, asynchronous=False)

    def _due(self, within_s: float) -> Message | None:
        """The next one whose time has come; none is polled behind one that waits for it."""
        message = self._held or self._consumer.poll(within_s)
        self._held = None
        if message is None or message.error() or not self._late_s:
            return message
        if time.time() - message.timestamp()[1] / 1000 >= self._late_s:
            return message
        self._held = message
        self._stop.wait(within_s)
        return None

    def ask_to_stop(self) -> None:
        self._stop.set()

    def stop(self) -> None:
        self._stop.set()
        if self in RUNNING:
            RUNNING.remove(self)
        self._thread.join(30)
