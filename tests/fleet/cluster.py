"""One cluster under virtual time: the controller's real decisions over its real context.

`up` is the truth, the context what the controller knows: between a host's end and its brokers'
session timeout the two differ.
"""

import random
import uuid
from collections.abc import Iterable
from dataclasses import replace

from controlplane.clusters.rules import Placement
from controlplane.gateway.types import TP, PartitionDescription, TopicDescription
from dataplane.cluster import reassignment
from dataplane.cluster.alter_partition import IsrProposal, judge
from dataplane.cluster.context import NEVER_LED, ControllerContext
from dataplane.cluster.controlled_shutdown import leave
from dataplane.cluster.election import ElectionType
from dataplane.cluster.failover import Changes, imbalanced, repair
from dataplane.cluster.image import BrokerInfo
from dataplane.cluster.placement import place
from dataplane.cluster.requested_election import elect_requested
from dataplane.model.ids import TopicPartition
from dataplane.model.partition import PartitionState
from tests.fleet.assumed import Assumed

PARTITIONS_OF_TOPIC = 10
IMBALANCE_PERCENT = 10
"""As `leader.imbalance.per.broker.percentage`."""


class SimulatedCluster:
    """Brokers by id with their places; every change of a partition passes `_apply`."""

    def __init__(self, name: str, placed: Iterable[Placement]) -> None:
        self.name = name
        self.placed: dict[int, Placement] = {row.broker_id: row for row in placed}
        self.up: set[int] = set()
        self.context = ControllerContext(epoch=1, epoch_version=1)
        self.controller: int | None = None
        self.sizes: dict[TP, int] = {}
        self.min_isr = 2
        self.writes = 0
        self.next_id = max(self.placed) + 1
        self._epochs = 0
        self._caught_up: set[int] = set()
        self._shown: tuple[TopicDescription, ...] | None = None

    # -- its beginning
    def fill(self, rng: random.Random, assumed: Assumed) -> None:
        """All brokers up, topics placed by the broker's own rule, and led."""
        self.min_isr = assumed.min_isr
        for broker in self.placed:
            self.register(broker)
        racks = {broker: row.rack for broker, row in self.placed.items()}
        left, number = assumed.led_per_broker * len(self.placed), 0
        while left > 0:
            count = min(left, PARTITIONS_OF_TOPIC)
            self._create(f"topic-{number}", count, racks, rng, assumed)
            left, number = left - count, number + 1

    def _create(
        self,
        name: str,
        count: int,
        racks: dict[int, str],
        rng: random.Random,
        assumed: Assumed,
    ) -> None:
        start = rng.randrange(len(racks)), rng.randrange(len(racks))
        rows = place(racks, count, assumed.replicas, start_index=start[0], start_shift=start[1])
        self.context.add_topic(name, uuid.UUID(int=rng.getrandbits(128)))
        made = [TopicPartition(name, index) for index in range(count)]
        for partition, replicas in zip(made, rows, strict=True):
            new = PartitionState(
                index=partition.partition, leader_epoch=NEVER_LED, replicas=replicas
            )
            self.context.put(partition, new)
            size = int(assumed.size_median_bytes * rng.lognormvariate(0, 1))
            self.sizes[TP(*partition)] = size
        self._apply(repair(self.context, made, _never))

    # -- brokers
    def register(self, broker: int) -> None:
        """It runs, and the controller knows: the partitions that waited for it are led again."""
        self.up.add(broker)
        self._epochs += 1
        now = dict(self.context.brokers)
        now[broker] = BrokerInfo(broker, epoch=self._epochs, rack=self.placed[broker].rack)
        self._know(now)
        self._apply(repair(self.context, self.context.partitions_on([broker]), _never))

    def end(self, broker: int) -> None:
        """Its process is gone; nobody knows yet."""
        self.up.discard(broker)
        self._caught_up.discard(broker)

    def forget_dead(self) -> None:
        """The sessions of those that are gone have timed out."""
        gone = self.context.live - self.up
        self._know({b: info for b, info in self.context.brokers.items() if b not in gone})
        self._apply(repair(self.context, self.context.partitions_on(gone), _never))

    def shut_down(self, broker: int) -> None:
        """In good order: leadership and ISRs first."""
        changes, _ = leave(self.context, broker)
        self._apply(changes)
        self.end(broker)
        self.forget_dead()

    def _know(self, brokers: dict[int, BrokerInfo]) -> None:
        self.context.set_brokers(brokers)
        self._shown = None
        if self.controller not in self.context.live:
            self.controller = min(self.context.live, default=None)

    # -- replicas
    def catch_up(self, broker: int) -> None:
        """It has read all: each leader proposes it, and the controller judges."""
        self._caught_up.add(broker)
        for partition in self.context.partitions_on([broker]):
            state = self._state(partition)
            if broker not in state.adding and state.leader in self.up:
                # Others too that had caught up while nobody led.
                new = self._caught_up.intersection(state.replicas) - {*state.isr, *state.adding}
                if new:
                    self._join(partition, state, sorted(new))

    def _join(self, partition: TopicPartition, state: PartitionState, new: Iterable[int]) -> None:
        isr = {each: self.context.brokers[each].epoch for each in state.isr if each in self.up}
        isr |= {each: self.context.brokers[each].epoch for each in new}
        proposal = IsrProposal(partition, state.leader_epoch, state.partition_epoch, isr)
        verdict = judge(self.context, state.leader, proposal)
        if isinstance(verdict, PartitionState):
            self._apply({partition: verdict})

    def balance_leaders(self) -> None:
        """As the controller does it by itself."""
        self._apply(imbalanced(self.context, IMBALANCE_PERCENT))

    def elect(self, partitions: Iterable[TP]) -> None:
        wanted = [TopicPartition(*tp) for tp in partitions]
        self._apply(elect_requested(self.context, ElectionType.PREFERRED, wanted)[0])

    def begin_move(self, tp: TP, target: tuple[int, ...]) -> bool:
        partition = TopicPartition(*tp)
        state = reassignment.begin(self._state(partition), target, self.context.live)
        if state is not None:
            self._apply({partition: state})
        return state is not None

    def can_end(self, tp: TP) -> bool:
        """Everybody whom the end takes is up: a move waits for each replica of its target."""
        state = self._state(TopicPartition(*tp))
        target = reassignment.target_of(state)
        in_sync = set(state.isr) | set(state.adding)
        return state.leader in self.up and in_sync.issuperset(target) and self.up.issuperset(target)

    def end_move(self, tp: TP) -> bool:
        """The new replicas have everything; False while that cannot be written down."""
        partition = TopicPartition(*tp)
        state = self._state(partition)
        self._join(partition, state, state.adding)
        now = self._state(partition)
        if not reassignment.is_complete(now):
            return False
        done = reassignment.complete(now, self.context.live)
        if done is not None:
            self._apply({partition: done})
        return done is not None

    def cancel_move(self, tp: TP) -> None:
        partition = TopicPartition(*tp)
        state = self._state(partition)
        before = reassignment.cancel(state, self.context.live) if state.is_reassigning else None
        if before is not None:
            self._apply({partition: before})

    # -- what others see
    def leader(self, tp: TP) -> int:
        return self._state(TopicPartition(*tp)).leader

    @property
    def topics(self) -> tuple[TopicDescription, ...]:
        if self._shown is None:
            self._shown = tuple(
                TopicDescription(
                    name=topic.name,
                    topic_id=str(topic.topic_id),
                    internal=False,
                    partitions=tuple(
                        PartitionDescription(
                            partition=index,
                            leader=state.leader if state.leader in self.context.live else None,
                            leader_epoch=state.leader_epoch,
                            replicas=state.replicas,
                            isr=state.isr,
                        )
                        for index, state in sorted(topic.partitions.items())
                    ),
                )
                for topic in self.context.topics.values()
            )
        return self._shown

    @property
    def assignment(self) -> dict[TP, tuple[int, ...]]:
        return {TP(*tp): state.replicas for tp, state in self.context.partitions()}

    def moving(self) -> set[TP]:
        return {TP(*tp) for tp in self.context.reassigning}

    def unwritable(self) -> int:
        """Partitions that refuse acks=all now, in truth: too few of those in sync run."""
        return sum(
            len(self.up.intersection(state.isr)) < self.min_isr
            for _, state in self.context.partitions()
        )

    def is_whole(self) -> bool:
        """Every broker that it should have is up and every replica in sync."""
        return self.up >= self.placed.keys() and not any(
            len(state.isr) < len(state.replicas) or state.is_reassigning
            for _, state in self.context.partitions()
        )

    def shared(self) -> int:
        """Partitions with two replicas on one host."""
        found = 0
        for replicas in self.assignment.values():
            hosts = [self.placed[b].host_id for b in replicas if b in self.placed]
            found += len(set(hosts)) < len(hosts)
        return found

    def _state(self, partition: TopicPartition) -> PartitionState:
        state = self.context.state(partition)
        assert state is not None
        return state

    def _apply(self, changes: Changes) -> None:
        for partition, state in changes.items():
            # The version of its node in ZooKeeper.
            self.context.put(partition, replace(state, partition_epoch=state.partition_epoch + 1))
        self.writes += len(changes)
        if changes:
            self._shown = None


def _never(_topic: str) -> bool:
    """No unclean elections."""
    return False
