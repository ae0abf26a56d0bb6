"""What partitions remember of producers, folded, and how their transactions stand. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from controlplane.gateway.types import TP, ProducerState, TransactionDescription

LATE_AFTER_MS = 60_000
"""How long past its timeout a transaction is late: coordinators look every 10 s, clocks differ."""
UNDER_WAY = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})
"""States in which a coordinator will yet write the end of a transaction."""


class Standing(StrEnum):
    """How an open transaction stands; the worst last."""

    OPEN = "open"
    """Its coordinator has it, and its time is not over."""
    UNKNOWN = "unknown"
    """Not every coordinator could be asked."""
    LATE = "late"
    """Its coordinator has it, and should have ended it by its timeout."""
    HANGING = "hanging"
    """No coordinator has it: nobody will end it."""


RANK = {standing: rank for rank, standing in enumerate(Standing)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One producer in one partition; `standing` is None without an open transaction."""

    partition: int
    state: ProducerState
    standing: Standing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """One producer over the partitions of a topic.

    Attributes:
        traces: the worst standing first, then by partition.
        transaction: of its coordinator, where that is known.
    """

    producer_id: int
    traces: tuple[Trace, ...]
    transaction: TransactionDescription | None = None

    @property
    def epoch(self) -> int:
        return max(trace.state.epoch for trace in self.traces)

    @property
    def last_timestamp_ms(self) -> int | None:
        return max(
            (at for trace in self.traces if (at := trace.state.last_timestamp_ms) is not None),
            default=None,
        )

    @property
    def standing(self) -> Standing | None:
        found = [trace.standing for trace in self.traces if trace.standing is not None]
        return max(found, key=RANK.__getitem__, default=None)


States = Mapping[TP, Collection[ProducerState]]
Opening = tuple[TP, int, int]
"""A partition, a producer id, and the offset at which its open transaction begins there."""


def openings(states: States) -> set[Opening]:
    return {
        (tp, state.producer_id, state.transaction_start)
        for tp, found in states.items()
        for state in found
        if state.transaction_start is not None
    }


def owner_of(
    opening: Opening, transactions: Iterable[TransactionDescription]
) -> TransactionDescription | None:
    """The transaction under way that this opening is a part of."""
    tp, producer_id, _ = opening
    return next(
        (
            each
            for each in transactions
            if each.producer_id == producer_id and each.state in UNDER_WAY and tp in each.partitions
        ),
        None,
    )


def standing_of(
    opening: Opening,
    transactions: Collection[TransactionDescription],
    *,
    knows_all: bool,
    now_ms: int,
) -> Standing:
    """`knows_all`: every coordinator has said what it has of this producer."""
    owner = owner_of(opening, transactions)
    if owner is None:
        return Standing.HANGING if knows_all else Standing.UNKNOWN
    if owner.started_at_ms is None:
        return Standing.OPEN
    ends_ms = owner.started_at_ms + owner.timeout_ms
    return Standing.LATE if now_ms > ends_ms + LATE_AFTER_MS else Standing.OPEN


def folded(
    states: States,
    standings: Mapping[Opening, Standing],
    transactions: Collection[TransactionDescription],
) -> list[Producer]:
    """By producer: the worst transaction first, then who wrote last.

    An opening without a standing has been ended since it was read.
    """
    traces: dict[int, list[Trace]] = defaultdict(list)
    owners: dict[int, TransactionDescription] = {}
    for tp, found in states.items():
        for state in found:
            standing = None
            if state.transaction_start is not None:
                opening = (tp, state.producer_id, state.transaction_start)
                standing = standings.get(opening)
                owner = owner_of(opening, transactions)
                if owner is not None and standing is not None:
                    owners[state.producer_id] = owner
            trace = Trace(partition=tp.partition, state=state, standing=standing)
            traces[state.producer_id].append(trace)
    producers = [
        Producer(
            producer_id=producer_id,
            traces=tuple(sorted(each, key=lambda trace: (-_rank(trace.standing), trace.partition))),
            transaction=owners.get(producer_id),
        )
        for producer_id, each in traces.items()
    ]
    return sorted(producers, key=_order)


def _rank(standing: Standing | None) -> int:
    return -1 if standing is None else RANK[standing]


def _order(producer: Producer) -> tuple[int, int, int]:
    last_ms = producer.last_timestamp_ms
    return (
        -_rank(producer.standing),
        -(last_ms if last_ms is not None else -1),
        producer.producer_id,
    )
