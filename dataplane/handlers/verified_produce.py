"""A producer's first batches of a transaction in a partition: asked about before they are written.

Only these wait for the transaction coordinator (KIP-890, part 1): what follows in the same
transaction finds it open. Work on the connection's next request waits too, so that the order of a
producer's batches stays.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from dataplane.broker.context import CloseConnection
from dataplane.broker.delayed.deferred import Deferred
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.model.ids import TopicPartition
from dataplane.wire.batch_layout import HEADER_BYTES, TRANSACTIONAL_FLAG
from dataplane.wire.record_batch import BatchHeader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dataplane.broker.context import RequestContext
    from dataplane.log.producers.producer_state import ProducerState
    from dataplane.log.producers.verifications import Verification

    Asked = Iterable[tuple[str, Iterable[tuple[int, memoryview | None]]]]
    Errors = dict[tuple[str, int], ErrorCode]

_log = logging.getLogger(__name__)


class FirstWrite(NamedTuple):
    """The first batch of a producer's transaction in a partition."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    producers: ProducerState
    verification: Verification


def first_writes(context: RequestContext, asked: Asked) -> list[FirstWrite]:
    """Those of a request, by the partitions that are led here; others are refused later."""
    found: list[FirstWrite] = []
    if not context.broker.transaction_verifier.is_enabled:
        return found
    for name, partitions in asked:
        for index, records in partitions:
            if records is None or len(records) < HEADER_BYTES:
                continue
            head = BatchHeader.parse(records)
            if not head.attributes & TRANSACTIONAL_FLAG or head.producer_id < 0:
                continue
            place = TopicPartition(name, index)
            try:
                producers = context.broker.replica_manager.leader(place).log.producers
            except KafkaError:
                continue
            if not producers.has_open_transaction(head.producer_id):
                verification = producers.verifications.begin(head.producer_id)
                found.append(
                    FirstWrite(
                        place, head.producer_id, head.producer_epoch, producers, verification
                    )
                )
    return found


def verify_then(
    context: RequestContext,
    transactional_id: str,
    writes: Sequence[FirstWrite],
    produce: Callable[[Errors], Any],
    *,
    acks: int,
) -> Deferred[Any]:
    """The answer of `produce`, called with what the coordinator has refused.

    `produce` writes at once: nothing may come between the look at the verification and the batch.
    """
    if acks == 0:
        raise CloseConnection("a transaction's first batch cannot be answered with acks=0")
    deferred: Deferred[Any] = Deferred()

    async def work() -> None:
        answer = produce(await _errors(context, transactional_id, writes)).finish()
        if isinstance(answer, Deferred):
            answer.when_done(deferred.complete)
        else:
            deferred.complete(answer)

    context.broker.transaction_verifier.start(work())
    return deferred


async def _errors(
    context: RequestContext, transactional_id: str, writes: Sequence[FirstWrite]
) -> Errors:
    verifier = context.broker.transaction_verifier
    found: dict[TopicPartition, ErrorCode] = {}
    for producer in {(write.producer_id, write.producer_epoch) for write in writes}:
        places = [write.partition for write in writes if write[1:3] == producer]
        try:
            found |= await verifier.verify(transactional_id, *producer, places)
        except Exception:  # noqa: BLE001 - answered in shape; the client may try again
            _log.exception("verifying a transaction")
            found |= dict.fromkeys(places, ErrorCode.UNKNOWN_SERVER_ERROR)
    errors: Errors = {}
    for write in writes:
        error = found[write.partition]
        if error is not ErrorCode.NONE:
            write.producers.verifications.forget(write.producer_id)
        elif not (
            write.producers.has_open_transaction(write.producer_id)
            or write.producers.verifications.holds(write.producer_id, write.verification)
        ):
            error = ErrorCode.INVALID_TXN_STATE  # it has ended meanwhile
        if error is not ErrorCode.NONE:
            errors[write.partition] = error
    return errors
