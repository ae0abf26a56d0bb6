"""Each invariant catches a broker that is broken on purpose: a check that cannot fail is worth nothing.

Every way of breaking comes with the faults that bring it to light, and has to be caught within
SEEDS_MAX seeds by the invariant that is there for it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from crc32c import crc32c

from dataplane.broker.controller.known_brokers import KnownBrokers
from dataplane.broker.controller.load import load_brokers
from dataplane.broker.replicas.partition import Partition
from dataplane.broker.replicas.replica_manager import ReplicaManager
from dataplane.cluster import election, failover, image
from dataplane.handlers import fetch_partitions, produce
from dataplane.handlers.fetch_partitions import FetchPartitions
from dataplane.log import paths
from dataplane.log.appending.leader import LeaderAppends
from dataplane.log.manager.log_manager import LogManager
from dataplane.log.manager.pending_deletion import DirectoriesPendingDeletion
from dataplane.log.partition_log import PartitionLog
from dataplane.log.producers.producer_state import ProducerState
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.leader import LeaderCore
from dataplane.replication.partition_fetch_state import PartitionFetchState
from dataplane.replication.replica import Replica
from tests.simulation.plan import NEVER_S, Plan
from tests.simulation.simulation import Simulation

SEEDS_MAX = 30
FIRST_SEED = 9_000
FLEETING_GAP_S = 0.3
DEFAULTS = (0.0, NEVER_S, 3)
"""Between faults (0: as the seed says) and between topics that live for moments; brokers."""


def alter(patch, owner, name, change):
    """Put `change(original)` in the place of a function, an inner one too: a bug is where it is."""
    patch.setattr(owner, name, change(getattr(owner, name)))


def acks_before_the_watermark(patch):
    """A producer gets an acknowledgement although no follower has the record."""
    patch.setattr(Partition, "when_committed", lambda self, offset, callback: True)
    return ("kill_unfenced", "isolate", "pause"), {}


def reads_beyond_the_watermark(patch):
    """Consumers get what the leader alone has."""
    always = property(lambda self: True, lambda self, _answer: None)
    patch.setattr(FetchPartitions, "is_replica", always)
    original = FetchPartitions.acknowledge
    patch.setattr(
        FetchPartitions,
        "acknowledge",
        lambda self: original(self) if self.request.replica_id >= 0 else None,
    )
    return ("isolate", "slow_link"), {}


def truncates_by_watermark(patch):
    """Before KIP-101: a follower truncates to its own watermark, and never compares epochs."""
    patch.setattr(fetch_partitions, "divergence", lambda partition, wanted: None)
    start = PartitionFetchState.__init__

    def begin(self, partition, **keywords):
        partition.log.truncate_to(partition.log.high_watermark)
        start(self, partition, **keywords)

    patch.setattr(PartitionFetchState, "__init__", begin)
    settings = {"replica.high.watermark.checkpoint.interval.ms": "5000"}
    return ("kill", "isolate"), settings, 0.5


def compares_no_epochs(patch):
    """A follower keeps whatever it has, if only the offsets fit."""
    patch.setattr(fetch_partitions, "divergence", lambda partition, wanted: None)
    return ("kill_unfenced", "pause", "isolate", "zk_expiry"), {}


def never_lags(patch):
    """The leader takes every follower for caught up."""
    patch.setattr(Replica, "is_caught_up", lambda self, end, now, lag: True)
    settings = {"zookeeper.session.timeout.ms": "30000", "replica.lag.time.max.ms": "1000"}
    return ("pause",), settings, 3.0


def watermark_ignores_followers(patch):
    """The watermark is the leader's own log end."""

    def advance(self, now_ms):
        if self._log_end_offset <= self.high_watermark:
            return ()
        self.high_watermark = self._log_end_offset
        from dataplane.replication.effects import AdvanceHighWatermark

        return (AdvanceHighWatermark(self.high_watermark),)

    patch.setattr(LeaderCore, "_advance", advance)
    patch.setattr(LeaderCore, "_is_alone", True, raising=False)
    patch.setattr(LeaderCore, "_refresh", _refresh_alone)
    return ("isolate", "slow_link"), {}


def _refresh_alone(self):
    members = frozenset(self.isr)
    self._maximal_isr = members if self._proposed is None else members.union(self._proposed)
    self._is_alone = True


def watermark_goes_back(patch):
    """Each word of the controller resets the leader's watermark."""
    original = Partition.isr_committed

    def committed(self, isr, partition_epoch):
        self.log.high_watermark = max(0, self.log.high_watermark - 1)
        original(self, isr, partition_epoch)

    patch.setattr(Partition, "isr_committed", committed)
    return ("kill", "pause"), {}


def elects_in_the_old_epoch(patch):
    """A new leader without a new epoch."""

    def changed(original):
        return lambda state, *rest, **options: dataclasses.replace(
            original(state, *rest, **options), leader_epoch=max(0, state.leader_epoch)
        )

    alter(patch, election, "_led", changed)
    return ("kill", "restart", "zk_expiry"), {}


def ignores_the_fence(patch):
    """A broker obeys deposed controllers, and leads on in an epoch that others have too."""
    patch.setattr(ReplicaManager, "check_controller", lambda self, *_: ErrorCode.NONE)
    patch.setattr(Partition, "check_epoch", lambda self, epoch: None)

    def in_the_old_epoch(original):
        def repaired(state, live, electable, unclean):
            changed = original(state, live, electable, unclean)
            if changed is not None and changed.leader != state.leader:
                changed = dataclasses.replace(changed, leader_epoch=max(0, state.leader_epoch))
            return changed

        return repaired

    alter(patch, failover, "_repaired", in_the_old_epoch)
    return ("fence_alive", "pause", "zk_expiry"), {}


def trusts_a_bounced_leader(patch):
    """No controller looks whether a broker was away in between."""

    async def everybody(self):
        return {b: i.epoch for b, i in (await load_brokers(self._zk.coordinator)).items()}

    patch.setattr(KnownBrokers, "load", everybody)
    return ("kill", "kill_unfenced", "stale_fence"), {}


def trusts_a_leader_that_lost_power(patch):
    """The same, and what the leader had not synced is gone."""
    trusts_a_bounced_leader(patch)
    return ("power_loss",), {"log.flush.interval.messages": str(1 << 40)}, 0.3


def forgets_producers(patch):
    """Idempotence that does not recognise what was sent again."""
    patch.setattr(ProducerState, "find_duplicate", lambda self, batch: None)
    patch.setattr(ProducerState, "check", lambda self, batch, marker: None)
    return ("reset", "kill", "isolate"), {}


def skips_an_offset(patch):
    """Now and then the leader leaves a hole in its log."""
    original = LeaderAppends.stage

    def stage(self, records, *rest, **options):
        if self._offsets.log_end_offset % 17 == 16 and not self._staging.batches:
            self._offsets.log_end_offset += 1
        return original(self, records, *rest, **options)

    patch.setattr(LeaderAppends, "stage", stage)
    return ("reset",), {}


def answers_what_was_not_written(patch):
    """A staged batch is answered as appended although its write failed."""
    patch.setattr(produce.ProduceAnswer, "refuse", lambda self, item, error: None)
    return ("disk_full",), {}, 0.3


def lets_batches_pass_a_lost_one(patch):
    """Behind a failed write a batch of the same group takes the offsets of those that were lost."""

    def forgiving(original):
        def write(self):
            try:
                original(self)
            except KafkaError:
                self._staging.failure = None

        return write

    alter(patch, LeaderAppends, "_write_staged_first", forgiving)
    return ("failed_write", "disk_full"), {"log.segment.bytes": "700"}, 0.3


def remembers_producers_of_lost_batches(patch):
    """A producer's sequence moves on when a batch is staged, and stays there if the write fails."""

    def remembering(original):
        def undo(self, size, error):
            for entry in self._entries.values():
                entry.next_sequence += 1
            return original(self, size, error)

        return undo

    alter(patch, LeaderAppends, "_undo", remembering)
    return ("disk_full",), {}, 0.3


def answers_without_records(patch):
    """Consumers get nothing at some offsets, and ask for them for ever."""
    original = FetchPartitions.read_one

    def read_one(self, partition, wanted, left, is_first):
        result = original(self, partition, wanted, left, is_first)
        if self.is_replica or wanted.fetch_offset % 7:
            return result
        return result._replace(records=None)

    patch.setattr(FetchPartitions, "read_one", read_one)
    return ("reset",), {}


def damages_replicas(patch):
    """A follower writes other bytes than its leader."""
    original = PartitionLog.append_as_follower

    def append(self, records):
        copy = bytearray(records)
        end = int.from_bytes(copy[8:12], "big") + 12
        if len(copy) >= end:
            copy[end - 2] ^= 1
            copy[17:21] = crc32c(memoryview(copy)[21:end]).to_bytes(4, "big")
        return original(self, memoryview(copy))

    patch.setattr(PartitionLog, "append_as_follower", append)
    return ("reset",), {}


def never_rejoins(patch):
    """Who has left the ISR stays outside."""
    patch.setattr(LeaderCore, "_propose_joiner", lambda self, follower: ())
    return ("kill",), {}


def has_a_bug(patch):
    """An exception where nobody expects one."""

    def broken(self, *_):
        raise ZeroDivisionError

    patch.setattr(PartitionFetchState, "on_applied", broken)
    patch.setattr(PartitionLog, "end_offset_for_epoch", broken)
    return ("kill",), {}


def keeps_what_nobody_announced(patch):
    """The stand-ins for partitions not heard of yet are carried from image to image."""
    patch.setattr(
        image, "_received", lambda topic: {s.index: s for s in topic.partitions} if topic else {}
    )
    return ("slow_link", "zk_cut", "controller_change"), {}, 0.5, FLEETING_GAP_S, 5


def merges_full_metadata(patch):
    """What a full update does not name stays: a deletion that a broker missed is missed for good."""
    patch.setattr(image, "UPDATE_FULL", -1)
    return ("zk_expiry", "zk_cut", "controller_change", "slow_link"), {}, 0.5, FLEETING_GAP_S, 5


def keeps_strays(patch):
    """A replica that was moved away while its broker was gone stays there."""
    patch.setattr(ReplicaManager, "set_strays_aside", lambda self, belonging: None)
    return ("kill", "kill_unfenced", "zk_cut"), {}, 0.8, FLEETING_GAP_S


def keeps_empty_logs(patch):
    """A log whose making a disk refused is set aside for good, with nothing in it."""

    def set_aside(self, tp):
        retired = self._retire(tp, paths.stray_directory_name(tp, self._entropy.uuid4()))
        if retired is not None:
            retired[1].release()

    patch.setattr(LogManager, "set_aside", set_aside)
    return ("disk_full", "kill"), {}, 0.3, FLEETING_GAP_S


def leaves_the_files(patch):
    """The directory of a deleted log is renamed and never removed."""
    patch.setattr(DirectoriesPendingDeletion, "purge", lambda self: None)
    return ("reset",), {}, 0.8, FLEETING_GAP_S


# The rarer ones begin at a seed that shows them today; later ones would, too.
CASES: list[tuple[Any, ...]] = [
    (acks_before_the_watermark, "acknowledged records survive"),
    (reads_beyond_the_watermark, "nothing is read before the watermark"),
    (watermark_ignores_followers, "nothing is read before the watermark"),
    (watermark_goes_back, "watermark and epochs are monotonic"),
    (trusts_a_bounced_leader, "watermark and epochs are monotonic", 9_002),
    (trusts_a_leader_that_lost_power, "acknowledged records survive", 9_003),
    (truncates_by_watermark, "acknowledged records survive", 9_003),
    (compares_no_epochs, "same offset, same bytes", 9_031),
    (damages_replicas, "same offset, same bytes"),
    (elects_in_the_old_epoch, "one leader per epoch"),
    (ignores_the_fence, "one leader per epoch"),
    (skips_an_offset, "offsets are contiguous"),
    (answers_what_was_not_written, "acknowledged records survive"),
    (lets_batches_pass_a_lost_one, "acknowledged records survive"),
    (remembers_producers_of_lost_batches, "no duplicates with idempotence"),
    (answers_without_records, "offsets are contiguous"),
    (forgets_producers, "no duplicates with idempotence"),
    (never_lags, "in-sync replicas keep up", 9_008),
    (never_rejoins, "convergence"),
    (has_a_bug, "no unexpected exception"),
    (keeps_what_nobody_announced, "metadata is what ZooKeeper holds", 9_050),
    (merges_full_metadata, "metadata is what ZooKeeper holds", 9_016),
    (keeps_strays, "no replica is forgotten", 9_006),
    (keeps_empty_logs, "a deleted topic leaves no directory", 9_042),
    (leaves_the_files, "a deleted topic leaves no directory"),
]


class Broken(Simulation):
    """Goes on after a violation of another invariant than the one that is wanted."""

    wanted = ""

    def violate(self, invariant, text):
        if invariant == self.wanted:
            super().violate(invariant, text)


def catch(sabotage, wanted: str, monkeypatch, first: int = FIRST_SEED) -> int:
    """How many seeds it takes; 0 when none of them caught it."""
    faults, settings, *rest = sabotage(monkeypatch)
    gap_s, fleeting_gap_s, brokers = (*rest, *DEFAULTS[len(rest) :])
    make = Plan.of.__func__

    def plan(cls, random):
        made = make(cls, random)
        return dataclasses.replace(
            made,
            brokers=brokers,
            faults=faults,
            fault_gap_s=gap_s or min(made.fault_gap_s, 0.8),
            settings={**made.settings, **settings},
            admin_gap_s=NEVER_S,
            fleeting_gap_s=fleeting_gap_s,
            chains=0,  # test_broken_coordinators.py has them
        )

    monkeypatch.setattr(Plan, "of", classmethod(plan))
    monkeypatch.setattr(Broken, "wanted", wanted)
    for count in range(1, SEEDS_MAX + 1):
        if Broken(first + count).run().violations:
            return count
    return 0


@pytest.mark.parametrize(
    ("sabotage", "wanted", "first"),
    [(*case, FIRST_SEED)[:3] for case in CASES],
    ids=[case[0].__name__ for case in CASES],
)
def test_a_broken_broker_is_caught(sabotage, wanted, first, monkeypatch):
    assert catch(sabotage, wanted, monkeypatch, first), (
        f"no seed showed that a broker {sabotage.__doc__}"
    )
