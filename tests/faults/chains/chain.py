"""A consume-transform-produce chain by librdkafka, and its zombies."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from tests.faults.chains.history import Attempt, ChainHistory, Decision, Placed, transform
from tests.faults.traffic import QUIET

BATCH = 40
"""Records of the feed a transaction takes at most."""
CALL_S = 10.0
PATIENCE_S = 90.0
"""Longer than any fault: a call that may be made again is, so long."""
TRANSACTION_MS = 10_000
"""Shorter than a session, so that a coordinator also meets transactions that ran out of time."""
OPEN_S = (0.0, 0.2)
"""How long a transaction stays open when all of it is acknowledged, from and to: watchers look."""
ABORTED_SHARE = 0.25
CLIENT = {
    **QUIET,
    # A client notices a paused broker by this alone; at 60 s a run would measure nothing else.
    "socket.timeout.ms": 6_000,
    "retry.backoff.max.ms": 200,
}


class LifeEndedError(Exception):
    """This instance cannot go on: it was fenced, or what it knows of its input is in doubt."""


class Chain:
    """One transactional id and one group over the feed, alive until `stop`, in lives: each is an
    instance with a consumer and a producer. One that is replaced is not told; it is fenced.
    """

    def __init__(
        self, bootstrap: str, *, name: str, feed: str, target: str, protocol: str, seed: int = 1
    ) -> None:
        self.name = name
        self.group = f"{name}-group"
        self.history = ChainHistory(name, target)
        self.fenced = 0
        self.errors: list[str] = []
        self._bootstrap, self._feed, self._protocol = bootstrap, feed, protocol
        self._random = random.Random(seed)
        self._stopped = threading.Event()
        self._numbers = itertools.count()
        self._newest = -1
        self._threads: list[threading.Thread] = []
        self.begin()

    def begin(self) -> None:
        """A new instance; the one before, if it is still at work, becomes a zombie."""
        self._newest = number = next(self._numbers)
        thread = threading.Thread(target=self._live, args=(number,), name=f"{self.name}-{number}")
        self._threads.append(thread)
        thread.start()

    def stop(self) -> None:
        """Blocking: until every instance has closed its clients."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def count(self, decision: Decision) -> int:
        return sum(attempt.decision is decision for attempt in list(self.history.attempts))

    def _live(self, number: int) -> None:
        for again in itertools.count():
            life = Life(self, f"{self.name}/{number}.{again}", random.Random(self._random.random()))
            try:
                life.run()
            except (KafkaException, LifeEndedError) as error:
                self.errors.append(f"{life.name}: {error}")
                self.fenced += is_fenced(error)
            finally:
                life.close()
            if self.is_stopped or number != self._newest:
                return
            time.sleep(0.1)

    # -- what a life is made of -----------------------------------------------------------------

    def consumer(self) -> Consumer:
        settings: dict[str, object] = {
            "bootstrap.servers": self._bootstrap,
            "group.id": self.group,
            "group.protocol": self._protocol,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "check.crcs": True,
            **CLIENT,
        }
        if self._protocol == "classic":
            settings["session.timeout.ms"] = 6_000
        consumer = Consumer(settings)
        # With callbacks, assignments change within `consume` alone: what was consumed before
        # belongs to the generation that was asked for before.
        consumer.subscribe([self._feed], on_assign=_as_told, on_revoke=_as_told, on_lost=_as_told)
        return consumer

    def producer(self) -> Producer:
        return Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "transactional.id": self.name,
                "transaction.timeout.ms": TRANSACTION_MS,
                "linger.ms": 2,
                **CLIENT,
            }
        )


class Life:
    """One instance of a chain, until it is stopped or cannot go on."""

    def __init__(self, chain: Chain, name: str, chance: random.Random) -> None:
        self.name = name
        self._chain = chain
        self._chance = chance
        self._consumer = chain.consumer()
        self._producer = chain.producer()
        self._numbers = itertools.count()

    def close(self) -> None:
        self._consumer.close()

    def run(self) -> None:
        self._again(self._producer.init_transactions, CALL_S)
        while not self._chain.is_stopped:
            # Of before the records: with a later one, offsets of a generation that was lost
            # meanwhile could still be committed. Without a member id nobody would check them.
            metadata = self._consumer.consumer_group_metadata()
            is_member = bool(self._consumer.memberid())
            taken = [m for m in self._consumer.consume(BATCH, 0.2) if m.error() is None]
            if not taken:
                continue
            if not is_member or not self._attempt(taken, metadata):
                self._rewind(taken)

    def _attempt(self, taken: list[Message], metadata: object) -> bool:
        """One transaction; whether its records are done with. LifeEndedError, KafkaException."""
        attempt = Attempt(
            f"{self.name}/{next(self._numbers)}", self._chain.name, [_id_of(m) for m in taken]
        )
        self._chain.history.attempts.append(attempt)
        wants_abort = self._chance.random() < ABORTED_SHARE
        try:
            self._fill(attempt, taken, metadata)
            attempt.closing_s = time.monotonic()
            if not wants_abort:
                self._again(self._producer.commit_transaction, CALL_S)
                attempt.decision, attempt.is_clean = Decision.COMMITTED, True
                return True
        except KafkaException as error:
            attempt.closing_s = min(attempt.closing_s, time.monotonic())
            if not _error_of(error).txn_requires_abort():
                raise
            self._again(self._producer.abort_transaction, CALL_S)
            attempt.decision = Decision.ABORTED
            return False
        self._again(self._producer.abort_transaction, CALL_S)
        attempt.decision, attempt.is_clean = Decision.ABORTED, True
        return False

    def _fill(self, attempt: Attempt, taken: list[Message], metadata: object) -> None:
        def delivered(error: KafkaError | None, message: Message) -> None:
            partition, offset = message.partition(), message.offset()
            if error is None and partition is not None and offset is not None:
                first = Placed(partition, offset, time.monotonic())
                attempt.placed.setdefault(partition, first)

        self._producer.begin_transaction()
        for message, source in zip(taken, attempt.sources, strict=True):
            self._producer.produce(
                self._chain.history.topic,
                f"{attempt.id} {transform(source)}".encode(),
                partition=message.partition(),
                on_delivery=delivered,
            )
        offsets = [TopicPartition(m.topic(), m.partition(), m.offset() + 1) for m in taken]
        self._producer.flush(CALL_S)
        self._again(
            self._producer.send_offsets_to_transaction,
            [max(same, key=lambda each: each.offset) for same in _by_partition(offsets)],
            metadata,
            CALL_S,
        )
        time.sleep(self._chance.uniform(*OPEN_S))

    def _rewind(self, taken: list[Message]) -> None:
        """To the first of them: they are not done. A partition that is gone ends this life."""
        starts = [TopicPartition(m.topic(), m.partition(), m.offset()) for m in taken]
        for same in _by_partition(starts):
            self._consumer.seek(min(same, key=lambda each: each.offset))

    def _again(self, step: Callable[..., object], *arguments: object) -> None:
        """Call until it succeeds, as long as librdkafka says that it may be called again."""
        deadline_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                step(*arguments)
            except KafkaException as error:
                if not _error_of(error).retriable():
                    raise
                if time.monotonic() > deadline_s:
                    raise LifeEndedError(f"{step}: {error}") from error
            else:
                return


def _as_told(_consumer: Consumer, _partitions: list[TopicPartition]) -> None:
    """librdkafka's wrapper does what was assigned when the callback does nothing."""


def _error_of(error: KafkaException) -> KafkaError:
    found = error.args[0]
    assert isinstance(found, KafkaError)
    return found


def is_fenced(error: Exception) -> bool:
    """Whether another instance with the same transactional id, or a timeout, raised the epoch."""
    found = error.args[0] if error.args else None
    return isinstance(found, KafkaError) and found.name() in (
        "_FENCED",
        "PRODUCER_FENCED",
        "INVALID_PRODUCER_EPOCH",
    )


def _id_of(message: Message) -> str:
    value = message.value()
    assert value is not None
    return value.split(b" ", 1)[0].decode()


def _by_partition(found: list[TopicPartition]) -> list[list[TopicPartition]]:
    ordered = sorted(found, key=lambda each: each.partition)
    return [list(same) for _, same in itertools.groupby(ordered, lambda each: each.partition)]
