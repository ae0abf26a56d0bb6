"""What has to hold in every seed; one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.invariants.aborted_unread import AbortedUnread
from tests.simulation.invariants.acknowledged_survive import AcknowledgedSurvive
from tests.simulation.invariants.base import Invariant
from tests.simulation.invariants.contiguous_offsets import ContiguousOffsets
from tests.simulation.invariants.convergence import Convergence
from tests.simulation.invariants.deleted_for_good import DeletedForGood
from tests.simulation.invariants.exactly_once import ExactlyOnce
from tests.simulation.invariants.in_sync_lag import InSyncLag
from tests.simulation.invariants.monotonic import Monotonic
from tests.simulation.invariants.no_duplicates import NoDuplicates
from tests.simulation.invariants.no_forgotten_replicas import NoForgottenReplicas
from tests.simulation.invariants.no_internal_errors import NoInternalErrors
from tests.simulation.invariants.nothing_before_watermark import NothingBeforeWatermark
from tests.simulation.invariants.one_leader_per_epoch import OneLeaderPerEpoch
from tests.simulation.invariants.same_bytes import SameBytes
from tests.simulation.invariants.same_metadata import SameMetadata
from tests.simulation.invariants.stable_offset import StableOffset

if TYPE_CHECKING:
    from tests.simulation.simulation import Simulation

__all__ = ["Invariant", "all_invariants"]


def all_invariants(sim: Simulation) -> list[Invariant]:
    return [
        AcknowledgedSurvive(sim),
        NothingBeforeWatermark(sim),
        Monotonic(sim),
        SameBytes(sim),
        OneLeaderPerEpoch(sim),
        ContiguousOffsets(sim),
        NoDuplicates(sim),
        InSyncLag(sim),
        Convergence(sim),
        SameMetadata(sim),
        NoForgottenReplicas(sim),
        DeletedForGood(sim),
        AbortedUnread(sim),
        ExactlyOnce(sim),
        StableOffset(sim),
        NoInternalErrors(sim),
    ]
