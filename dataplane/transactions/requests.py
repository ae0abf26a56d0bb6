"""What handlers ask of the coordinator and what it answers, apart from any wire version."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.transactions.transaction import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_TIMESTAMP

if TYPE_CHECKING:
    from dataplane.model.ids import TopicPartition


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """`producer_id` and `producer_epoch`: what the producer has, -1 when it starts (KIP-360).

    `fresh_producer_id` is one that nobody has, None as long as the host has not been asked for it.
    """

    transactional_id: str
    timeout_ms: int
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    fresh_producer_id: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InitResult:
    """`needs_producer_id`: nothing was decided; ask again with a fresh producer id."""

    error: ErrorCode = ErrorCode.NONE
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    needs_producer_id: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ProducerRequest:
    """Whoever asks with this producer id and epoch on behalf of a transactional id."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PartitionsRequest(ProducerRequest):
    """Partitions to add to the transaction, or to look for in it."""

    partitions: frozenset[TopicPartition]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EndRequest(ProducerRequest):
    """`is_commit` False aborts."""

    is_commit: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDescription:
    transactional_id: str
    error: ErrorCode = ErrorCode.NONE
    state: str = ""
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH
    timeout_ms: int = 0
    start_ms: int = NO_TIMESTAMP
    partitions: tuple[TopicPartition, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ListedTransaction:
    transactional_id: str
    producer_id: int
    state: str
    start_ms: int
