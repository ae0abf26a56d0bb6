"""Reads whose answer says what could not be read: what is known, and the gaps in it.

A broker that is away costs one deadline: the same reader does not ask it again.
"""

import math
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from controlplane.common.words import counted
from controlplane.gateway.errors import NOT_ANSWERING, TIMED_OUT, UNREACHABLE, GatewayError
from controlplane.gateway.patience import is_past
from controlplane.gateway.port import ClusterGateway
from controlplane.gateway.types import (
    EARLIEST,
    LATEST,
    TP,
    TRANSACTION_TOPIC,
    AclBinding,
    PartitionDescription,
    ProducerState,
    ReplicaSize,
    TopicDescription,
    TransactionDescription,
)

T = TypeVar("T")
GROUP_TOPIC = "__consumer_offsets"
ALIVE_STATES = frozenset({"Stable", "PreparingRebalance", "CompletingRebalance"})
AWAY = frozenset({UNREACHABLE, TIMED_OUT, NOT_ANSWERING})
NO_AUTHORIZER = "SECURITY_DISABLED"


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """A part of an answer that nobody gave.

    Attributes:
        reason: a phrase without a capital: `broker 2 did not answer`.
        brokers: those that could have given it.
    """

    reason: str
    brokers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[T]):
    """What is known; with gaps, `known` is a part of the truth."""

    known: T
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """A group's state and the topics that it has committed in or is assigned."""

    state: str
    topics: frozenset[str]


class ClusterReader:
    """Questions to one broker after the other.

    With `patience_s` nobody more is asked after brokers that are away were waited for so long, nor
    past a `patience.deadline`, however those answered that were asked.

    Attributes:
        silent_s: how long those were waited for that did not answer.
    """

    def __init__(self, gateway: ClusterGateway, *, patience_s: float = math.inf) -> None:
        self._gateway = gateway
        self._patience_s = patience_s
        self._away: dict[int, Gap] = {}
        self.silent_s = 0.0

    def log_bounds(
        self, topics: Collection[TopicDescription], only: Collection[TP] | None = None
    ) -> Reading[dict[TP, tuple[int, int]]]:
        """(log start, log end) by partition, of `only` these when given."""

        def ask(partitions: list[TP], _broker: int) -> dict[TP, tuple[int, int]]:
            starts = self._gateway.offsets(dict.fromkeys(partitions, EARLIEST))
            ends = self._gateway.offsets(dict.fromkeys(partitions, LATEST))
            return {tp: (starts[tp].offset, ends[tp].offset) for tp in ends if tp in starts}

        return self._of_leaders(topics, ask, only)

    def offsets_at(
        self, topics: Collection[TopicDescription], timestamp_ms: int
    ) -> Reading[dict[TP, int]]:
        """The first offset at or after this time, by partition; -1: there is none."""

        def ask(partitions: list[TP], _broker: int) -> dict[TP, int]:
            found = self._gateway.offsets(dict.fromkeys(partitions, timestamp_ms))
            return {tp: at.offset for tp, at in found.items()}

        return self._of_leaders(topics, ask)

    def records(self, topics: Collection[TopicDescription]) -> Reading[dict[TP, int]]:
        """Records between log start and log end, by partition."""
        found = self.log_bounds(topics)
        counts = {tp: end - start for tp, (start, end) in found.known.items()}
        return Reading(known=counts, gaps=found.gaps)

    def leader_bytes(self, topics: Collection[TopicDescription]) -> Reading[dict[TP, int]]:
        """Bytes of each partition's log on its leader."""
        names = sorted(topic.name for topic in topics)

        def ask(partitions: list[TP], broker: int) -> dict[TP, int]:
            wanted = set(partitions)
            return {
                replica.tp: replica.size_bytes
                for replica in self._gateway.log_dirs(names, brokers=[broker])
                if replica.tp in wanted and not replica.is_future
            }

        return self._of_leaders(topics, ask)

    def producers(
        self, topic: TopicDescription, only: Collection[TP]
    ) -> Reading[dict[TP, tuple[ProducerState, ...]]]:
        """Who has written to these partitions of a topic, as their leaders know."""

        def ask(partitions: list[TP], broker: int) -> dict[TP, tuple[ProducerState, ...]]:
            rows = self._gateway.describe_producers(partitions, broker=broker)
            refused = {row.refused for row in rows if row.refused}
            if len(refused) == 1 and all(row.refused for row in rows):
                raise GatewayError(refused.pop(), "")
            return {row.tp: row.producers for row in rows if not row.refused}

        return self._of_leaders([topic], ask, only)

    def transactions(self, producer_ids: Collection[int]) -> Reading[list[TransactionDescription]]:
        """What coordinators have of these producers; without gaps that is all there is.

        Raises:
            GatewayError: not even the brokers' names can be read.
        """
        found: list[TransactionDescription] = []
        gaps = self._without_leader(TRANSACTION_TOPIC)
        for node in self._gateway.describe_cluster().brokers:
            question = partial(self._gateway.transactions, producer_ids, broker=node.id)
            answer = self.ask(node.id, question)
            if isinstance(answer, Gap):
                gaps.append(answer)
            else:
                found += answer
        return Reading(known=found, gaps=tuple(gaps))

    def replicas(
        self, brokers: Iterable[int], topics: Collection[str] | None = None
    ) -> Reading[list[ReplicaSize]]:
        """Every replica (of `topics`) on these brokers; a gap for each that does not say."""
        found: list[ReplicaSize] = []
        gaps: list[Gap] = []
        for broker in brokers:
            answer = self.ask(broker, partial(self._gateway.log_dirs, topics, brokers=[broker]))
            if isinstance(answer, Gap):
                gaps.append(answer)
            else:
                found += answer
        return Reading(known=found, gaps=tuple(gaps))

    def groups(self) -> Reading[dict[str, GroupUse]]:
        """Every group with the topics it uses, asked of one coordinator after the other.

        Raises:
            GatewayError: not even the brokers' names can be read.
        """
        found: dict[str, GroupUse] = {}
        gaps = self.unled_coordinators()
        for node in self._gateway.describe_cluster().brokers:
            answer = self.ask(node.id, partial(self._groups_of, node.id))
            if isinstance(answer, Gap):
                gaps.append(answer)
            else:
                found |= answer
        return Reading(known=found, gaps=tuple(gaps))

    def acls(self) -> Reading[list[AclBinding]]:
        """Every ACL; none on a cluster without an authorizer, where none holds."""
        try:
            return Reading(known=self._gateway.list_acls())
        except GatewayError as error:
            if error.code == NO_AUTHORIZER:
                return Reading(known=[])
            return Reading(known=[], gaps=(Gap(f"the ACLs could not be read ({error.code})"),))

    def ask(self, broker: int, question: Callable[[], T]) -> T | Gap:
        """One broker's answer, or why there is none."""
        if broker in self._away:
            return self._away[broker]
        if self.silent_s >= self._patience_s or is_past():
            return Gap(f"broker {broker} was not asked, others took too long", (broker,))
        began_s = time.monotonic()
        try:
            return question()
        except GatewayError as error:
            if error.code not in AWAY:
                return Gap(f"broker {broker} refused ({error.code})", (broker,))
            self.silent_s += time.monotonic() - began_s
            self._away[broker] = Gap(f"broker {broker} did not answer", (broker,))
            return self._away[broker]

    def _of_leaders(
        self,
        topics: Collection[TopicDescription],
        question: Callable[[list[TP], int], dict[TP, T]],
        only: Collection[TP] | None = None,
    ) -> Reading[dict[TP, T]]:
        """One question to each leader about its partitions."""
        by_leader: dict[int, list[TP]] = {}
        unled: list[PartitionDescription] = []
        for topic in topics:
            for part in topic.partitions:
                tp = TP(topic.name, part.partition)
                if only is not None and tp not in only:
                    continue
                if part.leader is None:
                    unled.append(part)
                else:
                    by_leader.setdefault(part.leader, []).append(tp)
        found: dict[TP, T] = {}
        gaps = [without_leader(unled)] if unled else []
        for broker, partitions in sorted(by_leader.items()):
            answer = self.ask(broker, partial(question, partitions, broker))
            if isinstance(answer, Gap):
                gaps.append(answer)
                continue
            found |= answer
            left_out = len(set(partitions) - set(answer))
            if left_out:
                which = f" for {counted(left_out, 'partition')}" if answer else ""
                gaps.append(Gap(f"broker {broker} did not answer{which}", (broker,)))
        return Reading(known=found, gaps=tuple(gaps))

    def _groups_of(self, broker: int) -> dict[str, GroupUse]:
        states = {row.group: row.state for row in self._gateway.list_groups([broker])}
        committed = self._gateway.group_offsets(list(states))
        alive = [group for group, state in states.items() if state in ALIVE_STATES]
        described = self._gateway.describe_groups(alive)
        return {
            group: GroupUse(
                state=state,
                topics=frozenset(
                    [tp.topic for tp in committed.get(group, {})]
                    + [
                        tp.topic
                        for member in (described[group].members if group in described else ())
                        for tp in member.partitions
                    ]
                ),
            )
            for group, state in states.items()
        }

    def unled_coordinators(self) -> list[Gap]:
        """A group whose partition of the offsets topic has no leader is listed by nobody."""
        return self._without_leader(GROUP_TOPIC)

    def _without_leader(self, name: str) -> list[Gap]:
        topic = self._gateway.describe_topics([name]).get(name)
        unled = [part for part in topic.partitions if part.leader is None] if topic else []
        return [without_leader(unled, f" of {name}")] if unled else []


def without_leader(partitions: Iterable[PartitionDescription], whose: str = "") -> Gap:
    parts = list(partitions)
    brokers = tuple(sorted({broker for part in parts for broker in part.replicas}))
    names = ", ".join(map(str, brokers))
    one = len(parts) == 1
    return Gap(
        f"{counted(len(parts), 'partition')}{whose} {'has' if one else 'have'} no leader"
        f" ({'replica' if len(brokers) == 1 else 'replicas'} on {names})",
        brokers,
    )


def total(reading: Reading[dict[TP, int]]) -> Reading[int]:
    """The sum of what is known: a lower bound when there are gaps."""
    return Reading(known=sum(reading.known.values()), gaps=reading.gaps)
