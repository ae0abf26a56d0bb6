"""One partition as its leader sees it: who is in sync, and what is committed.

Facts of Kafka 3.9 that hold here: the high watermark is the least log end over the *maximal* ISR
(the committed one plus a proposed joiner) and over caught-up replicas that are about to join; it
stands still while the ISR is smaller than `min.insync.replicas`; at most one ISR change is under
way; a proposal whose fate is unknown keeps counting until the controller has answered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.model.errors import ErrorCode
from dataplane.replication.effects import AdvanceHighWatermark, ProposeIsr
from dataplane.replication.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataplane.model.partition import PartitionState
    from dataplane.replication.effects import Effect

_REVERTED = frozenset({ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INELIGIBLE_REPLICA})
"""The controller has not changed anything and will not."""

_SUPERSEDED = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)
"""The controller knows something newer, which is on its way to us."""

LOOKS_PER_LAG_TIME = 4
"""How often leaders look for followers that lag while one may lag. Kafka looks twice: then writes
wait for one that is gone up to 1.5 times `replica.lag.time.max.ms`, here up to 1.25 times."""

_NOTHING: tuple[Effect, ...] = ()


class LeaderCore:
    """Events in, effects out; no I/O. Times are monotonic milliseconds."""

    def __init__(
        self,
        *,
        broker_id: int,
        leader_epoch: int,
        partition_epoch: int,
        replicas: Iterable[int],
        isr: Iterable[int],
        min_isr: int,
        lag_max_ms: int,
        log_end_offset: int,
        high_watermark: int,
        now_ms: int,
    ) -> None:
        self.broker_id = broker_id
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.min_isr = min_isr
        self.high_watermark = high_watermark
        self.isr: tuple[int, ...] = tuple(isr)
        self._lag_max_ms = lag_max_ms
        self._log_end_offset = log_end_offset
        self._epoch_start_offset = log_end_offset
        self._proposed: tuple[int, ...] | None = None
        self._must_repeat = False
        self._is_refused = False
        self._seen_ms = now_ms
        self._followers: dict[int, Replica] = {}
        self._take_replicas(replicas, now_ms)
        self._refresh()

    # --- facts ---

    @property
    def replicas(self) -> tuple[int, ...]:
        return self._replicas

    @property
    def maximal_isr(self) -> frozenset[int]:
        """The committed ISR and whoever a pending proposal would add."""
        return self._maximal_isr

    @property
    def is_change_pending(self) -> bool:
        return self._proposed is not None

    def is_under_min_isr(self) -> bool:
        """Whether acks=all has to be refused: the minimum counts at most all replicas."""
        return len(self.isr) < min(self.min_isr, len(self._replicas))

    def follower(self, broker_id: int) -> Replica | None:
        return self._followers.get(broker_id)

    def waits_for(self, broker_id: int, now_ms: int) -> bool:
        """Whether nothing is committed without this follower.

        It is in the ISR, proposed for it, or has caught up and will be proposed: one that catches
        up while another's proposal is open counts before it can be proposed itself.
        """
        if broker_id in self._maximal_isr:
            return True
        follower = self._followers.get(broker_id)
        return follower is not None and follower.is_caught_up(
            self._log_end_offset, now_ms, self._lag_max_ms
        )

    def caught_up_member(self, broker_id: int, offset: int) -> Replica | None:
        """The follower, if it is in sync and caught up at `offset`, and no change is under way."""
        follower = self._followers.get(broker_id)
        if (
            follower is None
            or self._proposed is not None
            or broker_id not in self._maximal_isr
            or follower.log_end_offset != offset
        ):
            return None
        return follower

    # --- events ---

    def on_append(self, log_end_offset: int, now_ms: int) -> Sequence[Effect]:
        """We appended: alone in the ISR that commits it at once."""
        self._log_end_offset = log_end_offset
        if self._is_alone:
            return self._advance(now_ms)
        return _NOTHING

    def on_follower_fetch(
        self, replica_id: int, fetch_offset: int, *, log_end_offset: int, now_ms: int
    ) -> Sequence[Effect]:
        """A follower asks from `fetch_offset` on while our log ends at `log_end_offset`."""
        follower = self._followers.get(replica_id)
        if follower is None:
            return _NOTHING
        self._log_end_offset = log_end_offset
        before = follower.log_end_offset
        follower.on_fetch(fetch_offset, log_end_offset, now_ms)
        effects: list[Effect] = []
        if replica_id not in self._maximal_isr:
            effects += self._propose_joiner(follower)
        if before != fetch_offset:
            effects += self._advance(now_ms)
        return effects

    def on_isr_committed(self, isr: Sequence[int], partition_epoch: int) -> Sequence[Effect]:
        """The controller has written this ISR. An older one than we have is ignored."""
        if partition_epoch < self.partition_epoch:
            return _NOTHING
        self.isr = tuple(isr)
        self.partition_epoch = partition_epoch
        self._proposed = None
        self._must_repeat = False
        self._refresh()
        return self._advance(self._seen_ms)

    def on_isr_rejected(self, error: ErrorCode) -> Sequence[Effect]:
        """The controller refused our proposal, or nobody knows what became of it.

        A definite refusal reverts to the committed ISR. If newer state exists, it is waited for.
        In doubt the proposal stays, is counted as if it held, and is repeated at the next tick.
        """
        if self._proposed is None:
            return _NOTHING
        if error in _REVERTED:
            self._proposed = None
            self._must_repeat = False
            self._refresh()
        elif error in _SUPERSEDED:
            self._is_refused = True
        else:
            self._must_repeat = True
        return _NOTHING

    def on_state(self, state: PartitionState, *, now_ms: int) -> Sequence[Effect]:
        """The controller's state of replicas and ISR within our leader epoch.

        A controller that is new says again what we know. It may still take a proposal of ours that
        nobody has answered, which goes by the partition epoch: so that keeps counting.
        """
        if state.leader_epoch != self.leader_epoch or state.partition_epoch < self.partition_epoch:
            return _NOTHING
        if state.partition_epoch > self.partition_epoch or self._is_refused:
            self._proposed = None
            self._must_repeat = False
        self.isr = state.isr
        self.partition_epoch = state.partition_epoch
        self._take_replicas(state.replicas, now_ms)
        self._refresh()
        return self._advance(now_ms)

    def tick(self, now_ms: int) -> Sequence[Effect]:
        """Look for followers that lag; due `LOOKS_PER_LAG_TIME` times in
        `replica.lag.time.max.ms`.
        """
        if self._proposed is not None:
            if not self._must_repeat:
                return _NOTHING
            self._must_repeat = False
            return (ProposeIsr(self._proposed, self.partition_epoch),)
        effects: list[Effect] = list(self._advance(now_ms))
        lagging = {
            broker_id
            for broker_id in self.isr
            if broker_id != self.broker_id and not self._is_caught_up(broker_id, now_ms)
        }
        if lagging:
            effects += self._propose(tuple(b for b in self.isr if b not in lagging))
        return effects

    def isr_without_late(self, now_ms: int) -> tuple[int, ...] | None:
        """The ISR that this leader may write itself while no controller answers its proposal.

        It is the committed one without those that lag, so it is safe whatever becomes of the
        proposal; whether a replica may join stays the controller's to say. None while no proposal
        is open, or nobody lags and holds the watermark back.
        """
        if self._proposed is None:
            return None
        late = {
            broker_id
            for broker_id in self._maximal_isr
            if broker_id != self.broker_id and not self._is_caught_up(broker_id, now_ms)
        }
        if not late:
            return None
        return tuple(broker_id for broker_id in self.isr if broker_id not in late)

    # --- deciding ---

    def _take_replicas(self, replicas: Iterable[int], now_ms: int) -> None:
        """Keep what is known of replicas that stay; new ones start unknown."""
        self._replicas = tuple(replicas)
        known, self._followers = self._followers, {}
        for broker_id in self._replicas:
            if broker_id == self.broker_id:
                continue
            follower = known.get(broker_id)
            if follower is None:
                follower = Replica(broker_id)
                follower.reset(is_in_sync=broker_id in self.isr, now_ms=now_ms)
            self._followers[broker_id] = follower

    def _refresh(self) -> None:
        members = frozenset(self.isr)
        self._maximal_isr = members if self._proposed is None else members.union(self._proposed)
        self._is_alone = not self._maximal_isr.intersection(self._followers)

    def _is_caught_up(self, broker_id: int, now_ms: int) -> bool:
        follower = self._followers.get(broker_id)
        return follower is not None and follower.is_caught_up(
            self._log_end_offset, now_ms, self._lag_max_ms
        )

    def _propose_joiner(self, follower: Replica) -> Sequence[Effect]:
        """A follower may join once it has all that is committed and all of earlier epochs."""
        if self._proposed is not None:
            return _NOTHING
        end = follower.log_end_offset
        if end < self.high_watermark or end < self._epoch_start_offset:
            return _NOTHING
        return self._propose((*self.isr, follower.broker_id))

    def _propose(self, isr: tuple[int, ...]) -> Sequence[Effect]:
        self._proposed = isr
        self._is_refused = False
        self._refresh()
        return (ProposeIsr(isr, self.partition_epoch),)

    def _advance(self, now_ms: int) -> Sequence[Effect]:
        """Move the high watermark as far as every replica that counts has come."""
        self._seen_ms = now_ms
        if len(self.isr) < self.min_isr and self.is_under_min_isr():
            return _NOTHING
        end = self._log_end_offset
        lowest = end
        for follower in self._followers.values():
            at = follower.log_end_offset
            if at >= lowest:
                continue
            is_joining = follower.is_caught_up(end, now_ms, self._lag_max_ms)
            if follower.broker_id in self._maximal_isr or is_joining:
                lowest = at
        if lowest <= self.high_watermark:
            return _NOTHING
        self.high_watermark = lowest
        return (AdvanceHighWatermark(lowest),)
