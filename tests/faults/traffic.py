"""Real clients: writers that note each outcome, a group that reads on, a reader of all."""

from __future__ import annotations

import collections
import functools
import threading
import time
from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from tests.faults.ledger import Ledger, Sent
from tests.faults.verifier import Read
from tests.local_cluster import eventually

PAUSE_S = 0.002
"""Between two records of a writer: enough for thousands, little enough for a shared machine."""
FILLING = b"." * 120
NEVER_SENT = frozenset(
    {
        KafkaError._PURGE_QUEUE,  # noqa: SLF001 - librdkafka's own codes are public all the same
        KafkaError._QUEUE_FULL,  # noqa: SLF001 - librdkafka's own codes are public all the same
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
    }
)
"""Errors that say for certain that a record is not in the log. After a retry nothing else does."""
READ_TIMEOUT_S = 60.0
QUIET = {"log_level": 0, "reconnect.backoff.max.ms": 500}
"""Lost connections are what these tests are about: no line for each."""


class Writer:
    """Writes to the partitions in turn, from a thread of its own, until stopped."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        name: str,
        is_idempotent: bool,
        partitions: Sequence[int],
        pause_s: float = PAUSE_S,
        filling: bytes = FILLING,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.ledger = Ledger(name, is_idempotent=is_idempotent)
        self._topic = topic
        self._partitions = partitions
        self._pause_s = pause_s
        self._filling = filling
        client: dict[str, object] = {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": is_idempotent,
            "linger.ms": 2,
            # Longer than any fault: a writer that gives up only makes outcomes unknown.
            "delivery.timeout.ms": 120_000,
            "retry.backoff.max.ms": 200,
            **QUIET,
            **(settings or {}),
        }
        if not is_idempotent:
            # More than one request under way may be reordered by retries, as Kafka documents.
            client["max.in.flight.requests.per.connection"] = 1
        self._producer = Producer(client)
        self._stopped = threading.Event()
        self._gives_up = False
        self._thread = threading.Thread(target=self._run, name=f"writer-{name}")
        self._thread.start()

    def _run(self) -> None:
        while not self._stopped.is_set():
            turn = len(self.ledger.records) % len(self._partitions)
            sent = self.ledger.note_sent(self._partitions[turn])
            value = self.ledger.id_of(sent).encode() + b" " + self._filling
            while True:
                try:
                    self._producer.produce(
                        self._topic,
                        value,
                        partition=sent.partition,
                        on_delivery=functools.partial(self._delivered, sent),
                    )
                    break
                except BufferError:
                    self._producer.poll(0.05)
            self._producer.poll(0)
            time.sleep(self._pause_s)
        if self._gives_up:
            self._producer.purge()
        self._producer.flush(150)

    def _delivered(self, sent: Sent, error: KafkaError | None, message: Message) -> None:
        if error is None:
            offset = message.offset()
            self.ledger.note_acked(sent, -1 if offset is None else offset, time.monotonic())
        else:
            self.ledger.note_error(
                sent, error.name(), is_unknown=error.code() not in NEVER_SENT or error.fatal()
            )

    def acked_since(self, at_s: float) -> bool:
        """Whether something was acknowledged after that moment (monotonic seconds)."""
        return bool(self.ledger.acked_at_s) and self.ledger.acked_at_s[-1] > at_s

    def stop(self, *, gives_up: bool = False) -> None:
        """Blocking: until every record has an outcome, unless nobody wants to know any more."""
        self._gives_up = gives_up
        self._stopped.set()
        self._thread.join()


class GroupReader:
    """A member of a consumer group that reads and commits all the time."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str = "",
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.name = group or f"group-{topic}"
        self.seen: list[Read] = []
        self.seen_ids: set[str] = set()
        self.refused_commits: collections.Counter[str] = collections.Counter()
        """By error; that there was nothing new to commit is none."""
        self.longest_gap_s = 0.0
        """Between two confirmed commits."""
        self._committed_at_s = 0.0
        self.committed: dict[int, int] = {}
        """The newest commit by partition that the coordinator has confirmed."""
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": self.name,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "check.crcs": True,
                **QUIET,
                **(settings or {}),
            }
        )
        self._consumer.subscribe([topic])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="group-reader")
        self._thread.start()

    def _run(self) -> None:
        commit_at = time.monotonic() + 1
        while not self._stopped.is_set():
            for message in self._consumer.consume(500, 0.2):
                if message.error() is None:
                    read = _read(message)
                    self.seen.append(read)
                    self.seen_ids.add(read.id)
            if time.monotonic() > commit_at and self.seen:
                commit_at = time.monotonic() + 1
                self._commit()
        self._consumer.close()

    def _commit(self) -> None:
        try:
            answered = self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            name = error.args[0].name()
            if name != "_NO_OFFSET":
                self.refused_commits[name] += 1  # the group starts again from an older commit
            return
        now_s = time.monotonic()
        if self._committed_at_s:
            self.longest_gap_s = max(self.longest_gap_s, now_s - self._committed_at_s)
        self._committed_at_s = now_s
        for each in answered or []:
            if each.error is None and each.offset >= 0:
                self.committed[each.partition] = each.offset

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


def _read(message: Message) -> Read:
    value, partition, offset = message.value(), message.partition(), message.offset()
    assert value is not None
    assert partition is not None
    assert offset is not None
    return Read(partition, offset, value.split(b" ", 1)[0].decode(errors="replace"))


def read_all(
    bootstrap: str,
    topic: str,
    partitions: Sequence[int],
    settings: Mapping[str, object] | None = None,
) -> list[Read]:
    """Everything below the high watermarks, with a fresh client. AssertionError if it stops."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"reader-{topic}",
            "enable.auto.commit": False,
            "check.crcs": True,
            **QUIET,
            **(settings or {}),
        }
    )
    ends = watermarks(consumer, topic, partitions)
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    read: list[Read] = []
    left = sum(ends.values())
    deadline = time.monotonic() + READ_TIMEOUT_S
    reached = dict.fromkeys(partitions, 0)
    while any(reached[partition] < ends[partition] for partition in partitions):
        for message in consumer.consume(5000, 0.5):
            if message.error() is None:  # else the client tries again, until the deadline
                read.append(_read(message))
                reached[read[-1].partition] = read[-1].offset + 1
        assert time.monotonic() < deadline, f"read {len(read)} of {left} records, up to {reached}"
    consumer.close()
    return read


def committed(bootstrap: str, topic: str, partitions: Sequence[int]) -> dict[int, int]:
    """What the group's coordinator remembers of the group of `GroupReader`."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"group-{topic}", **QUIET})
    found = consumer.committed([TopicPartition(topic, each) for each in partitions], 20)
    consumer.close()
    return {each.partition: each.offset for each in found if each.error is None}


def watermarks(consumer: Consumer, topic: str, partitions: Sequence[int]) -> dict[int, int]:
    """The high watermark of every partition, asked of its leader (which may change meanwhile)."""
    return {each: _watermark(consumer, TopicPartition(topic, each)) for each in partitions}


def _watermark(consumer: Consumer, partition: TopicPartition) -> int:
    for _ in eventually(40, f"a leader that answers with the high watermark of {partition}"):
        try:
            found = consumer.get_watermark_offsets(partition, 10)
        except KafkaException:
            continue
        if found is not None:
            return found[1]
    raise AssertionError
