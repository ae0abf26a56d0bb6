"""A producer that never forgets a record: each ends acknowledged, failed or unknown."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

from dataplane.model.errors import ErrorCode
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.simulation.clients.connection import Client, NotSentError, UnknownOutcomeError
from tests.simulation.oracle import Fate, Sent

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

DELIVERY_TIMEOUT_S = 20.0
RETRY_S = 0.05

# Refusals from before the append: the record is nowhere. NOT_LEADER_OR_FOLLOWER is one only when
# nothing is waited for, because a leader that resigns answers its waiting producers with it.
REFUSED = frozenset(
    {
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
    }
)
FATAL = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_RECORD,
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """How a producer behaves. `retries` off: every record is sent once at most."""

    name: str
    acks: int
    idempotent: bool = False
    retries: bool = True


KINDS = (
    Kind("idempotent", -1, idempotent=True),
    Kind("idempotent", -1, idempotent=True),
    Kind("plain", -1),
    Kind("once", -1, retries=False),
    Kind("leader-only", 1),
    Kind("blind", 0),
)


@dataclasses.dataclass(slots=True)
class _Attempt:
    """What is known of a batch that has been sent already, or just has its sequence."""

    began_s: float
    sequence: int = -1
    identity: tuple[int, int] = (-1, -1)
    leader: int = -1
    code: int | None = None
    offset: int = -1


class Producer:
    """Writes to random partitions until stopped; one batch, or one burst, in flight for each.

    What of a burst was not acknowledged is sent again one by one, in its order.
    """

    def __init__(self, sim: Simulation, number: int, kind: Kind) -> None:
        self.sim = sim
        self.kind = kind
        self.name = f"producer-{number}"
        self.client = Client(sim, self.name)
        self.is_stopping = False
        self.busy = 0
        self._number = number
        self._written = 0
        self._producer_id = -1
        self._producer_epoch = -1
        self._sequences: dict[tuple[str, int], int] = {}
        self._in_flight: set[tuple[str, int]] = set()

    def start(self) -> None:
        self.busy += 1
        self.client.spawn(self._run())

    @property
    def is_idle(self) -> bool:
        return self.is_stopping and not self.busy

    async def _run(self) -> None:
        random = self.client.random
        while not self.is_stopping:
            await asyncio.sleep(random.expovariate(1 / self.sim.plan.think_s))
            topics = self.sim.open_topics()
            if not topics:
                continue
            topic = random.choice(topics)
            count = self.client.partition_counts.get(topic, 0)
            if not count:
                await self.client.refresh()
                continue
            place = (topic, random.randrange(count))
            if place in self._in_flight:
                continue
            self._in_flight.add(place)
            self.busy += 1
            self.client.loop.create_task(self._write(place))
        self.busy -= 1

    async def _write(self, place: tuple[str, int]) -> None:
        bursts = [self._records(place) for _ in range(self._burst_size(place))]
        try:
            if len(bursts) == 1:
                await self._deliver_and_note(place, bursts[0], _Attempt(self.client.loop.time()))
            else:
                await self._deliver_burst(place, bursts)
        finally:
            self._in_flight.discard(place)
            self.busy -= 1

    def _burst_size(self, place: tuple[str, int]) -> int:
        """How many batches to send at once.

        The leader has to know an idempotent producer: of an unknown one it takes any sequence, a
        later batch of the burst too where the first was refused. (Kafka has the same hole.)
        """
        most, kind = self.sim.plan.burst_batches_max, self.kind
        if most == 1 or kind.acks == 0 or (kind.idempotent and not self._sequences.get(place)):
            return 1
        return self.client.random.randint(1, most)

    def _records(self, place: tuple[str, int]) -> list[Sent]:
        random = self.client.random
        records = []
        for _ in range(random.choice((1, 1, 2, 5))):
            self._written += 1
            padding = "." * random.choice((0, 0, 50, 400))
            value = f"{self.name}/{self._written}{padding}".encode()
            sent = Sent(
                value,
                place[0],
                place[1],
                self.kind.acks,
                self.kind.idempotent,
                not self.kind.retries,
                self.client.topic_ids[place[0]],
            )
            self.sim.oracle.sent[value] = sent
            records.append(sent)
        return records

    async def _deliver_burst(self, place: tuple[str, int], bursts: list[list[Sent]]) -> None:
        """All of it by one write, then what was not acknowledged."""
        began_s = self.client.loop.time()
        leader, _epoch = self.client.leaders.get(place, (-1, -1))
        identity = (self._producer_id, self._producer_epoch)
        sequence = self._sequences.get(place, 0) if self.kind.idempotent else -1
        sequences = []
        for records in bursts:
            sequences.append(sequence)
            sequence += len(records) if sequence >= 0 else 0
        requests = [
            self._request(place, each, at) for each, at in zip(bursts, sequences, strict=True)
        ]
        answers: list[Any] = [None] * len(bursts)
        is_sent = leader >= 0 and self.client.topic_ids.get(place[0]) == bursts[0][0].topic_id
        if is_sent:
            try:
                answers = await self.client.ask_together(leader, requests, 9, timeout_ms=3_000)
                self.sim.oracle.count("bursts")
            except NotSentError:
                is_sent = False
        is_behind = False  # a batch of the burst that was not acknowledged
        for records, at, answer in zip(bursts, sequences, answers, strict=True):
            attempt = _Attempt(began_s, at, identity, leader)
            if is_sent:
                attempt.code = ErrorCode.REQUEST_TIMED_OUT
            if answer is not None:
                answered = answer.responses[0].partition_responses[0]
                attempt.code, attempt.offset = answered.error_code, answered.base_offset
            if is_behind and attempt.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                attempt.code = ErrorCode.LEADER_NOT_AVAILABLE  # as it has to be: nowhere so far
            is_behind = is_behind or attempt.code != ErrorCode.NONE
            await self._deliver_and_note(place, records, attempt)

    async def _deliver_and_note(
        self, place: tuple[str, int], records: list[Sent], attempt: _Attempt
    ) -> None:
        fate, offset = await self._deliver(place, records, attempt)
        for index, sent in enumerate(records):
            sent.fate = fate
            if fate is Fate.ACKNOWLEDGED and offset >= 0:
                sent.offset = offset + index
        self.sim.oracle.count(f"{fate.value} acks={self.kind.acks}", len(records))
        first = records[0].value.decode().rstrip(".")
        self.sim.trace(
            f"{first} x{len(records)} to {place[0]}-{place[1]} acks={self.kind.acks} "
            f"{fate.value} at {offset}"
        )

    async def _deliver(
        self, place: tuple[str, int], records: list[Sent], attempt: _Attempt
    ) -> tuple[Fate, int]:
        """Try until something definite is known or the time is up. `attempt` was the first."""
        loop, client, kind = self.client.loop, self.client, self.kind
        deadline_s = attempt.began_s + DELIVERY_TIMEOUT_S
        is_in_doubt = False
        sequence, identity = attempt.sequence, attempt.identity
        leader, code, offset = attempt.leader, attempt.code, attempt.offset
        while code is not None or loop.time() < deadline_s:
            if code is None:
                if kind.idempotent and self._producer_id < 0 and not await self._get_producer_id():
                    await asyncio.sleep(RETRY_S)
                    continue
                if kind.idempotent and sequence < 0:
                    sequence = self._sequences.get(place, 0)
                    identity = (self._producer_id, self._producer_epoch)
                if kind.idempotent and identity != (self._producer_id, self._producer_epoch):
                    return (Fate.UNKNOWN if is_in_doubt else Fate.FAILED), -1
                if client.topic_ids.get(place[0]) != records[0].topic_id:
                    return (Fate.UNKNOWN if is_in_doubt else Fate.FAILED), -1
                leader, _epoch = client.leaders.get(place, (-1, -1))
                if leader < 0:
                    await client.refresh()
                    continue
                code, offset = await self._send(leader, place, records, sequence)
            if code == ErrorCode.NONE:
                if kind.idempotent and identity == (self._producer_id, self._producer_epoch):
                    behind = sequence + len(records)
                    self._sequences[place] = max(self._sequences.get(place, 0), behind)
                return (Fate.UNKNOWN if kind.acks == 0 else Fate.ACKNOWLEDGED), offset
            refused = code in REFUSED or (
                code == ErrorCode.NOT_LEADER_OR_FOLLOWER and kind.acks == 1
            )
            is_in_doubt = is_in_doubt or not refused
            if code in FATAL:
                self.sim.fatal_refusal(leader, place, code, records)
                break
            if not kind.retries:
                break
            code = None
            await client.refresh()
            await asyncio.sleep(RETRY_S)
        if kind.idempotent and sequence >= 0:
            # Whether the batch is there is not known: go on under a new identity, as clients do.
            self._forget_identity()
        return (Fate.UNKNOWN if is_in_doubt else Fate.FAILED), -1

    def _forget_identity(self) -> None:
        self._producer_id = -1
        self._sequences.clear()

    def _request(
        self, place: tuple[str, int], records: list[Sent], sequence: int
    ) -> ProduceRequest:
        now_ms = self.sim.wall_ms()
        batch = build_batch(
            [NewRecord(b"k", sent.value, (), now_ms) for sent in records],
            producer_id=self._producer_id if sequence >= 0 else -1,
            producer_epoch=self._producer_epoch if sequence >= 0 else -1,
            base_sequence=sequence,
        )
        return ProduceRequest(
            acks=self.kind.acks,
            timeout_ms=1_500,
            topic_data=[
                TopicProduceData(
                    name=place[0],
                    partition_data=[PartitionProduceData(index=place[1], records=bytes(batch))],
                )
            ],
        )

    async def _send(
        self, leader: int, place: tuple[str, int], records: list[Sent], sequence: int
    ) -> tuple[int, int]:
        """Error code and base offset. What says nothing is REQUEST_TIMED_OUT."""
        request = self._request(place, records, sequence)
        try:
            if self.kind.acks == 0:
                connection = await self.client.connection(leader, "blind")
                connection.send(request, 9, lambda _frame, _position: None)
                return ErrorCode.NONE, -1
            response = await self.client.ask(leader, request, 9, timeout_ms=3_000)
        except NotSentError:
            return ErrorCode.LEADER_NOT_AVAILABLE, -1
        except UnknownOutcomeError:
            return ErrorCode.REQUEST_TIMED_OUT, -1
        answer = response.responses[0].partition_responses[0]
        return answer.error_code, answer.base_offset

    async def _get_producer_id(self) -> bool:
        broker = self.client.random.choice(sorted(self.sim.machines))
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        try:
            answer = await self.client.ask(broker, request, 4)
        except (NotSentError, UnknownOutcomeError):
            return False
        if answer.error_code != ErrorCode.NONE:
            return False
        self._producer_id, self._producer_epoch = answer.producer_id, answer.producer_epoch
        self._sequences.clear()
        return True
