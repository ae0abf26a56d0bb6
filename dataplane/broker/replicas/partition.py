"""One replica of one partition on this broker: its log, its role, and who waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.broker.delayed.waiting import OffsetWaiters
from dataplane.broker.replicas.idle_follower import IdleFollower
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.replication.effects import AdvanceHighWatermark, ProposeIsr
from dataplane.replication.leader import LeaderCore
from dataplane.timing.purgatory import WatchList

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable, Container, Sequence

    from dataplane.broker.delayed.waiting import Wakeups
    from dataplane.log.partition_log import AppendInfo, PartitionLog
    from dataplane.model.ids import TopicPartition
    from dataplane.model.partition import PartitionState
    from dataplane.ports.clock import Clock
    from dataplane.replication.effects import Effect
    from dataplane.replication.fetch_sessions import FetchSession, PartitionKey

Buffer = bytes | bytearray | memoryview


class Partition:
    """Decides nothing about replication itself: feeds the leader core and carries out its effects.

    All calls come from the event loop, so there are no locks.
    """

    __slots__ = (
        "_acknowledgements",
        "_broker_id",
        "_clock",
        "_followed",
        "_follower_starts",
        "_idle",
        "_lag_ms_max",
        "_min_isr",
        "_propose_isr",
        "_wakeups",
        "appended",
        "committed",
        "core",
        "log",
        "state",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: uuid.UUID,
        log: PartitionLog,
        *,
        broker_id: int,
        clock: Clock,
        lag_ms_max: int,
        min_isr: int,
        wakeups: Wakeups,
        propose_isr: Callable[[Partition, ProposeIsr], None],
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.log = log
        self._min_isr = min_isr
        self.state: PartitionState | None = None
        self.core: LeaderCore | None = None
        self._broker_id = broker_id
        self._clock = clock
        self._lag_ms_max = lag_ms_max
        self._wakeups = wakeups
        self._propose_isr = propose_isr
        self._acknowledgements = OffsetWaiters()
        # Who reads: replicas read what is not committed too; consumers are woken by the watermark.
        self.appended = WatchList()
        self.committed = WatchList()
        self._idle: dict[int, IdleFollower] = {}
        self._follower_starts: dict[int, int] = {}
        self._followed = WatchList()  # who waits for followers to move their log starts

    # -- role

    @property
    def is_leader(self) -> bool:
        return self.core is not None

    @property
    def leader_epoch(self) -> int:
        return self.state.leader_epoch if self.state is not None else -1

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark

    @property
    def isr(self) -> tuple[int, ...]:
        if self.core is not None:
            return tuple(self.core.isr)
        return self.state.isr if self.state is not None else ()

    def waits_for(self, replica_id: int) -> bool:
        """Whether this leader commits nothing without that replica, in the ISR or not yet."""
        if self.core is None:
            return replica_id in self.isr
        return self.core.waits_for(replica_id, self._clock.monotonic_ms())

    @property
    def is_in_isr(self) -> bool:
        """Whether the controller's last word counts this replica as in sync."""
        return self.state is not None and self._broker_id in self.state.isr

    @property
    def min_isr(self) -> int:
        return self._min_isr

    @min_isr.setter
    def min_isr(self, replicas: int) -> None:
        """The topic's setting has changed: what was held back by the old one may be committed."""
        self._min_isr = replicas
        if self.core is not None:
            self.core.min_isr = replicas
            self.tick()

    def become_leader(self, state: PartitionState) -> None:
        now_ms = self._clock.monotonic_ms()
        is_new_epoch = self.state is None or state.leader_epoch > self.state.leader_epoch
        if self.core is not None and not is_new_epoch:
            self.state = state
            self._wake_followers()
            self._carry_out(self.core.on_state(state, now_ms=now_ms))
            return
        # A disk that refuses leaves everything as it was.
        self.log.assign_epoch_start(state.leader_epoch, self.log.log_end_offset)
        self._wake_followers()
        self.state = state
        self.core = LeaderCore(
            broker_id=self._broker_id,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            replicas=state.replicas,
            isr=state.isr,
            min_isr=self._min_isr,
            lag_max_ms=self._lag_ms_max,
            log_end_offset=self.log.log_end_offset,
            high_watermark=self.log.high_watermark,
            now_ms=now_ms,
        )
        self.tick()

    def become_follower(self, state: PartitionState) -> None:
        self.state = state
        self.resign()

    def resign(self) -> None:
        """Stop leading: nobody may wait here for something that will not come."""
        self._wake_followers()
        self.core = None
        self._follower_starts.clear()
        self._followed.check()
        self._acknowledgements.fail()
        self._wake_consumers()
        if self.appended:
            self._wakeups.wake(self.appended)

    def check_epoch(self, current_leader_epoch: int) -> None:
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
            return
        if current_leader_epoch < self.leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    # -- writing

    def append_now(self, records: Buffer, acks: int, *, origin: str = "client") -> AppendInfo:
        """Append one batch to the leader's log. KafkaError says why not; nothing is waited for."""
        try:
            return self.stage(records, acks, origin=origin)
        finally:
            self.commit()

    def stage(self, records: Buffer, acks: int, *, origin: str = "client") -> AppendInfo:
        """Check one batch and give it its offsets; `commit` appends it with others.

        KafkaError says why not. Until `commit` nobody sees the batch, and `records` stays as it is;
        `commit` has to follow a refusal too.
        """
        core = self.core
        if core is None:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if acks == -1 and core.is_under_min_isr():
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
        return self.log.leader_appends.stage(
            records, core.leader_epoch, now_ms=self._clock.realtime_ms(), origin=origin
        )

    def commit(self) -> None:
        """Append what is staged. KafkaError when the disk refused."""
        try:
            self.log.leader_appends.commit()
        finally:
            self._appended()

    def _appended(self) -> None:
        core = self.core
        if core is None:
            return
        if self._idle:
            self._wake_followers()
        effects = core.on_append(self.log.log_end_offset, self._clock.monotonic_ms())
        if effects:
            self._carry_out(effects)
        if self.appended:
            self._wakeups.wake(self.appended)

    def when_committed(self, offset: int, callback: Callable[[bool], None]) -> bool:
        """Call back once the high watermark reaches `offset`; True if it is there already.

        At once, with False, if this broker has stopped leading.
        """
        if self.log.high_watermark >= offset:
            return True
        if self.core is None:
            callback(False)
            return False
        self._acknowledgements.add(offset, callback)
        return False

    def is_under_min_isr(self) -> bool:
        return self.core is not None and self.core.is_under_min_isr()

    def is_at_min_isr(self) -> bool:
        core = self.core
        return core is not None and len(core.isr) == min(core.min_isr, len(core.replicas))

    def low_watermark(self, live: Container[int]) -> int:
        """The lowest log start of this replica and its live followers; -1 if one is not known."""
        state = self.state
        starts = [self.log.log_start_offset]
        if state is not None:
            others = (each for each in state.replicas if each != self._broker_id and each in live)
            starts += [self._follower_starts.get(each, -1) for each in others]
        return min(starts)

    def watch_log_starts(self) -> WatchList:
        """The list that is notified when a follower's log start moves, or the role here changes."""
        # Followers learn of a moved log start by their next answer.
        self._wake_followers()
        return self._followed

    # -- replication

    def on_follower_fetch(
        self, replica_id: int, fetch_offset: int, log_start_offset: int = -1
    ) -> None:
        """A follower asks from `fetch_offset` on: everything before it is on its disk.

        `log_start_offset` is where its own log begins, -1 if it does not say.
        """
        if self.core is None:
            return
        idle = self._idle.get(replica_id)
        if idle is not None:
            # By another of its sessions: perhaps a request that was long on its way and says less
            # than is known. The session in which it idles says again where it is.
            idle.wake()
        if self._follower_starts.get(replica_id, -1) != log_start_offset:
            self._follower_starts[replica_id] = log_start_offset
            self._followed.check()
        effects = self.core.on_follower_fetch(
            replica_id,
            fetch_offset,
            log_end_offset=self.log.log_end_offset,
            now_ms=self._clock.monotonic_ms(),
        )
        if effects:
            self._carry_out(effects)

    def let_idle(
        self, replica_id: int, offset: int, session: FetchSession, key: PartitionKey
    ) -> None:
        """A follower that is in sync and caught up, and was sent all there is, becomes idle.

        An idle follower costs nothing: neither its fetches nor what they would be answered with
        is looked at. Everything that could change either wakes it.
        """
        core = self.core
        if core is None or offset != self.log.log_end_offset:
            return
        follower = core.caught_up_member(replica_id, offset)
        if follower is None:
            return
        earlier = self._idle.get(replica_id)
        if earlier is not None:
            earlier.wake()
        idle = IdleFollower(self._idle, replica_id, follower, session, key, self.log)
        self._idle[replica_id] = idle
        session.set_idle(key, idle)

    def _wake_followers(self) -> None:
        """Something happens here: idle followers are looked at again."""
        for idle in list(self._idle.values()):
            idle.wake()

    def followers_with(self, offset: int) -> list[tuple[int, int, int]]:
        """In-sync followers whose log holds `offset`: (broker, log end, ms since caught up)."""
        core = self.core
        if core is None:
            return []
        now_ms = self._clock.monotonic_ms()
        followers = (core.follower(broker_id) for broker_id in core.isr)
        return [
            (each.broker_id, each.log_end_offset, now_ms - each.last_caught_up_ms)
            for each in followers
            if each is not None
            and each.log_end_offset >= offset >= self._follower_starts.get(each.broker_id, -1)
        ]

    def tick(self) -> None:
        """Look for followers that lag."""
        if self.core is not None:
            self._carry_out(self.core.tick(self._clock.monotonic_ms()))

    def isr_committed(self, isr: Sequence[int], partition_epoch: int) -> None:
        if self.core is not None:
            self._wake_followers()
            self._carry_out(self.core.on_isr_committed(tuple(isr), partition_epoch))
            self._followed.check()  # a follower that has died is not waited for

    def isr_rejected(self, error: ErrorCode) -> None:
        if self.core is not None:
            self._carry_out(self.core.on_isr_rejected(error))

    def high_watermark_from_leader(self, offset: int) -> None:
        before = self.log.high_watermark
        if self.log.update_high_watermark(offset) != before:
            self._wake_consumers()

    # -- reading

    @property
    def watchers(self) -> int:
        """Requests that wait here for more to read."""
        return len(self.appended) + len(self.committed)

    @property
    def idle_followers(self) -> int:
        """Followers that are caught up and not looked at until something happens here."""
        return len(self._idle)

    # -- effects

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, AdvanceHighWatermark):
                self.log.update_high_watermark(effect.offset)
                if self._idle:
                    self._wake_followers()
                self._acknowledgements.reach(self.log.high_watermark)
                if self.committed:
                    self._wakeups.wake(self.committed)
            elif isinstance(effect, ProposeIsr):
                self._propose_isr(self, effect)

    def _wake_consumers(self) -> None:
        if self.committed:
            self._wakeups.wake(self.committed)
