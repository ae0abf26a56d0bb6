"""A producer's first batches of a transaction in a partition: asked about before they are written.

Only these wait for the transaction coordinator (KIP-890, part 1). Work on the connection's next
request waits too, so that the order of a producer's batches stays.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.transactions.verifier import AGAIN
from dataplane.model.errors import ErrorCode
from dataplane.model.ids import TopicPartition
from dataplane.wire.batch_layout import HEADER_BYTES, TRANSACTIONAL_FLAG
from dataplane.wire.record_batch import BatchHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataplane.broker.context import RequestContext

    Asked = Iterable[tuple[str, Iterable[tuple[int, memoryview | None]]]]

_log = logging.getLogger(__name__)

ABORTABLE_SINCE: Final = 11
"""The version whose clients abort at TRANSACTION_ABORTABLE and go on."""


class Checked(NamedTuple):
    """What a transactional request is refused before it is written: whole, by topic, partition."""

    whole: ErrorCode | None
    topics: dict[str, ErrorCode | None]
    partitions: dict[TopicPartition, ErrorCode]


class FirstWrites(NamedTuple):
    """A request's partitions in which the producer begins its transaction."""

    transactional_id: str
    producer: tuple[int, int]
    partitions: list[TopicPartition]


def check(
    context: RequestContext,
    transactional_id: str,
    asked: Asked,
    refused_topic: Callable[[RequestContext, str], ErrorCode | None],
) -> tuple[Checked, FirstWrites | None]:
    """What is refused, and what has to be asked about in topics that are not."""
    topics = {name: refused_topic(context, name) for name, _ in asked}
    producers, partitions = _firsts(context, transactional_id, asked, topics)
    if len(producers) > 1:  # no answer could be meant for all of them; so does Kafka
        return Checked(ErrorCode.INVALID_PRODUCER_ID_MAPPING, topics, {}), None
    checked = Checked(None, topics, {})
    if not partitions or not context.broker.transaction_verifier.is_enabled:
        return checked, None
    return checked, FirstWrites(transactional_id, producers.pop(), partitions)


def _firsts(
    context: RequestContext,
    transactional_id: str,
    asked: Asked,
    topics: dict[str, ErrorCode | None],
) -> tuple[set[tuple[int, int]], list[TopicPartition]]:
    """The producers of transactional batches; the partitions where those would be the first."""
    verifier = context.broker.transaction_verifier
    producers: set[tuple[int, int]] = set()
    partitions: list[TopicPartition] = []
    for name, batches in asked:
        if topics[name] is not None:
            continue
        for index, records in batches:
            if records is None or len(records) < HEADER_BYTES:
                continue
            head = BatchHeader.parse(records)
            if not head.attributes & TRANSACTIONAL_FLAG or head.producer_id < 0:
                continue
            producer = (head.producer_id, head.producer_epoch)
            producers.add(producer)
            partition = TopicPartition(name, index)
            if verifier.is_first(partition, transactional_id, producer):
                partitions.append(partition)
    return producers, list(dict.fromkeys(partitions))


def verify_then(
    context: RequestContext,
    writes: FirstWrites,
    frame: memoryview,
    produce: Callable[[memoryview, dict[TopicPartition, ErrorCode]], Any],
    fail: Callable[[memoryview], Any],
    *,
    acks: int,
) -> Any:
    """The answer of `produce`, called with the frame and what the coordinator has refused.

    `produce` writes at once: nothing may come between the look at the verification and the batch.
    `fail` is the answer when it cannot be made.
    """
    if acks == 0:
        raise CloseConnection("a transaction's first batch cannot be answered with acks=0")
    verifier = context.broker.transaction_verifier
    if not verifier.has_space_for(len(frame)):
        return produce(frame, dict.fromkeys(writes.partitions, AGAIN))
    copied = memoryview(bytearray(frame))  # the connection's buffer is used again
    deferred: Deferred[Any] = Deferred()

    async def work() -> None:
        try:
            answer = await verifier.verified(
                *writes,
                lambda refused: produce(copied, refused).finish(),
                knows_abortable=context.header.api_version >= ABORTABLE_SINCE,
            )
        except Exception:  # noqa: BLE001 - logged, counted; who waits shall have an answer
            _log.exception("PRODUCE failed")
            context.broker.metrics.failed_requests.inc()
            context.broker.replica_manager.appends.commit()
            answer = fail(copied)
        if isinstance(answer, Deferred):
            answer.when_done(deferred.complete)
        else:
            deferred.complete(answer)

    verifier.start(work(), len(copied))
    return deferred
