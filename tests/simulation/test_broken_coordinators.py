"""Each invariant of transactions and groups catches a broker that is broken on purpose.

As `test_broken_brokers.py`: every way of breaking comes with what brings it to light, and has to be
caught within SEEDS_MAX seeds by the invariant that is there for it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from dataplane.broker.coordinator_log import shard_host
from dataplane.broker.coordinator_log.writer import CoordinatorWriter
from dataplane.broker.groups.group_coordinator import GroupCoordinator
from dataplane.broker.groups.shard_host import GroupShardHost
from dataplane.broker.transactions.marker_sender import MarkerSender
from dataplane.groups.offsets import Offsets
from dataplane.groups.pending_offsets import PendingOffsets
from dataplane.log.partition_log import PartitionLog
from dataplane.log.producers.producer_entry import ProducerEntry
from dataplane.log.producers.producer_state import ProducerState
from dataplane.model.errors import ErrorCode
from dataplane.transactions.initializing import Initializing
from dataplane.transactions.outcome import Outcome
from dataplane.transactions.shard import TransactionShard
from dataplane.transactions.transaction import TransactionImage
from tests.simulation.plan import NEVER_S, Plan
from tests.simulation.test_broken_brokers import Broken, alter

SEEDS_MAX = 25
FIRST_SEED = 30_000
ABORTED, ONCE = "no aborted record is read", "consumed and produced exactly once"
STABLE, OFFSETS = "the last stable offset is before open transactions", "committed offsets stay"

Changes = dict[str, Any]


def lists_no_aborted(patch) -> Changes:
    """A fetch does not say which transactions were aborted."""
    patch.setattr(PartitionLog, "aborted_in", lambda self, found, upper_bound_offset: [])
    return {}


def shows_what_is_open(patch) -> Changes:
    """Everything below the watermark is called stable."""
    patch.setattr(PartitionLog, "last_stable_offset", property(lambda self: self.high_watermark))
    return {}


def takes_markers_for_written(patch) -> Changes:
    """What was refused or lost counts as done: transactions hang where their marker is not."""

    def settle(self, job, partitions, errors):
        job.left -= partitions
        self._finish_if_done(job)

    def retry(self, job, partitions):
        settle(self, job, set(partitions), {})

    patch.setattr(MarkerSender, "_settle", settle)
    patch.setattr(MarkerSender, "_retry", retry)
    return {"marker_fault_gap_s": 0.3}


def forgets_decisions(patch) -> Changes:
    """A new coordinator sends no markers for what the one before has decided."""
    patch.setattr(TransactionShard, "finish_loading", lambda self: Outcome())
    return {"marker_fault_gap_s": 0.3, "chain_move_gap_s": 0.5}


def fences_nobody(patch) -> Changes:
    """A successor gets the epoch that its predecessor has."""

    def unbumped(bump):
        def same_epoch(self, image: TransactionImage, request, **changes):
            if "producer_id" not in changes:
                changes["producer_epoch"] = image.producer_epoch
            return bump(self, image, request, **changes)

        return same_epoch

    alter(patch, Initializing, "_emptied", unbumped)
    patch.setattr(ProducerEntry, "check_sequence", lambda self, epoch, sequence: None)
    patch.setattr(ProducerState, "find_duplicate", lambda self, batch: None)
    return {}


def doubles_batches(patch) -> Changes:
    """A batch that was sent again because its answer was lost is written again."""
    patch.setattr(ProducerState, "find_duplicate", lambda self, batch: None)
    patch.setattr(ProducerEntry, "check_sequence", lambda self, epoch, sequence: None)
    return {"faults": ("reset", "slow_link"), "fault_gap_s": 0.3, "chaos_s": 12.0}


def counts_offsets_at_once(patch) -> Changes:
    """Offsets of a transaction count before it has ended, and if it is aborted."""

    def replay(self, write):
        for record in write.records:
            self.shard.replay(record)

    patch.setattr(GroupShardHost, "_replay_write", replay)
    return {}


def drops_offsets_of_transactions(patch) -> Changes:
    """Commit markers drop the offsets of their transaction."""
    end = PendingOffsets.end
    patch.setattr(
        PendingOffsets, "end", lambda self, p, *, is_commit: end(self, p, is_commit=False)
    )
    return {}


def acknowledges_unreplicated_offsets(patch) -> Changes:
    """A coordinator answers when it has written, not when its followers have."""

    def impatient(append):
        def at_once(self, writes):
            append(self, writes)
            for batch in list(self._in_flight):
                if not batch.is_late:
                    self._on_committed(True)

        return at_once

    alter(patch, CoordinatorWriter, "_append", impatient)
    return {"faults": ("kill_unfenced", "isolate"), "fault_gap_s": 1.5, "chaos_s": 25.0}


def reads_half_its_log(patch) -> Changes:
    """A new coordinator stops in the middle of what its predecessor has written."""
    load = shard_host.load

    async def half(partition, replay, transactions):
        end = partition.log.log_end_offset

        class Half:
            topic_partition = partition.topic_partition

            class log:
                log_start_offset = partition.log.log_start_offset
                log_end_offset = log_start_offset + (end - log_start_offset) // 2
                read = partition.log.read

        return await load(Half, replay, transactions)

    patch.setattr(shard_host, "load", half)
    return {"chain_move_gap_s": 0.5}


def answers_as_a_deposed_leader(patch) -> Changes:
    """Committed offsets are read from memory, whoever may lead by now."""

    async def none(self, group_ids):
        return {}

    patch.setattr(GroupCoordinator, "doubts", none)
    return {"faults": ("pause", "zk_cut", "isolate"), "fault_gap_s": 1.5, "chaos_s": 25.0}


def takes_commits_of_old_generations(patch) -> Changes:
    """Whoever was a member once may commit, whoever owns the partition by now."""
    patch.setattr(Offsets, "_check_member_commit", lambda self, group, request: ErrorCode.NONE)
    return {"members": 3, "faults": ("reset",), "fault_gap_s": 2.0, "chaos_s": 15.0}


CASES: list[tuple[Any, ...]] = [
    (lists_no_aborted, ABORTED),
    (shows_what_is_open, ABORTED),
    (shows_what_is_open, STABLE),
    (takes_markers_for_written, ABORTED),
    (takes_markers_for_written, OFFSETS, 30_050),
    (takes_markers_for_written, "convergence"),
    (forgets_decisions, "convergence"),
    (fences_nobody, ONCE),
    (doubles_batches, ONCE),
    (counts_offsets_at_once, ONCE),
    (counts_offsets_at_once, OFFSETS),
    (drops_offsets_of_transactions, OFFSETS),
    (drops_offsets_of_transactions, ONCE),
    (acknowledges_unreplicated_offsets, OFFSETS),
    (reads_half_its_log, OFFSETS),
    (answers_as_a_deposed_leader, OFFSETS, 30_020),
    (takes_commits_of_old_generations, OFFSETS),
]


def catch(sabotage, wanted: str, monkeypatch, first: int = FIRST_SEED) -> int:
    """How many seeds it takes; 0 when none of them caught it."""
    changes = sabotage(monkeypatch)
    make = Plan.of.__func__

    def plan(cls, random):
        made = make(cls, random)
        defaults: Changes = {
            "brokers": 3,
            "partitions": 1,
            "producers": 2,
            "chains": 2,
            "faults": ("reset", "kill"),
            "fault_gap_s": 0.8,
            "chaos_s": 8.0,
            "chain_move_gap_s": 0.0,
            "marker_fault_gap_s": 0.0,
            "members": 0,
            "admin_gap_s": NEVER_S,
            "fleeting_gap_s": NEVER_S,
        }
        return dataclasses.replace(made, **(defaults | changes))

    monkeypatch.setattr(Plan, "of", classmethod(plan))
    monkeypatch.setattr(Broken, "wanted", wanted)
    for count in range(1, SEEDS_MAX + 1):
        if Broken(first + count).run().violations:
            return count
    return 0


@pytest.mark.parametrize(
    ("sabotage", "wanted", "first"),
    [(*case, FIRST_SEED)[:3] for case in CASES],
    ids=[f"{case[0].__name__}-{case[1].split()[-1]}" for case in CASES],
)
def test_a_broken_coordinator_is_caught(sabotage, wanted, first, monkeypatch):
    assert catch(sabotage, wanted, monkeypatch, first), (
        f"no seed showed that a broker {sabotage.__doc__}"
    )
