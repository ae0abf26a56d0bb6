"""The part of the fake about producers and their transactions: what a test has put there."""

from collections.abc import Collection
from dataclasses import replace

from controlplane.gateway.fake_state import FakeTopic
from controlplane.gateway.types import (
    TP,
    PartitionProducers,
    ProducerState,
    TransactionDescription,
)


class FakeTransactionsMixin:
    """Needs the fake that it is mixed into: its topics, its brokers, its account of calls."""

    topics: dict[str, FakeTopic]
    coordinated: dict[str, tuple[int, TransactionDescription]]
    """By transactional id: its coordinator, and what that one says of it."""

    def called(self, method: str) -> None:
        """Notes the call; raises what was asked for. `FakeGateway` has it."""
        raise NotImplementedError

    def check_answers(self, broker: int) -> None:
        """Raises when this broker does not. `FakeGateway` has it."""
        raise NotImplementedError

    def add_producer(self, tp: TP, state: ProducerState) -> None:
        """It has written to the partition; another state of it replaces the one that is there."""
        self.topics[tp.topic].partitions[tp.partition].producers[state.producer_id] = state

    def add_transaction(self, found: TransactionDescription, *, coordinator: int = 1) -> None:
        self.coordinated[found.transactional_id] = (coordinator, found)

    def end_transaction(self, transactional_id: str) -> None:
        """Its markers are in every partition that it wrote to."""
        coordinator, found = self.coordinated[transactional_id]
        for tp in found.partitions:
            states = self.topics[tp.topic].partitions[tp.partition].producers
            if found.producer_id in states:
                ended = replace(states[found.producer_id], transaction_start=None)
                states[found.producer_id] = ended
        done = replace(found, state="CompleteCommit", started_at_ms=None, partitions=frozenset())
        self.coordinated[transactional_id] = (coordinator, done)

    def describe_producers(
        self, partitions: Collection[TP], *, broker: int
    ) -> list[PartitionProducers]:
        self.called("describe_producers")
        self.check_answers(broker)
        return [self._producers_of(tp, broker) for tp in sorted(partitions)]

    def _producers_of(self, tp: TP, broker: int) -> PartitionProducers:
        topic = self.topics.get(tp.topic)
        if topic is None or tp.partition >= len(topic.partitions):
            return PartitionProducers(tp=tp, refused="UNKNOWN_TOPIC_OR_PARTITION")
        part = topic.partitions[tp.partition]
        if broker not in part.replicas:
            return PartitionProducers(tp=tp, refused="NOT_LEADER_OR_FOLLOWER")
        states = (state for _, state in sorted(part.producers.items()))
        return PartitionProducers(tp=tp, producers=tuple(states))

    def transactions(
        self, producer_ids: Collection[int], *, broker: int
    ) -> list[TransactionDescription]:
        self.called("transactions")
        self.check_answers(broker)
        return [
            found
            for coordinator, found in self.coordinated.values()
            if coordinator == broker and found.producer_id in producer_ids
        ]
