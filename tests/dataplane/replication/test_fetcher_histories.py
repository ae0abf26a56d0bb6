"""The fetcher's loop: followers arrive at the leader's history, whatever happens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.broker.replicas.follower_effects import carry_out
from dataplane.log.config import LogConfig
from dataplane.model.errors import ErrorCode
from dataplane.replication.effects import PartitionFailed
from dataplane.replication.fetcher import (
    FetchLeaderBounds,
    SendFetch,
)
from dataplane.replication.partition_fetch_state import DELAY_MIN_MS, FetchState
from dataplane.wire.messages.fetch import PartitionData
from tests.dataplane.log.support import World, append, batch
from tests.dataplane.replication.follow_loop import (
    TOPIC_ID,
    WAIT_MAX_MS,
    Follower,
    Leader,
    Loop,
    asked,
    core_of,
    of,
    respond,
)
from tests.dataplane.replication.test_partition_fetch_state import (
    content,
    diverging,
    refused,
    with_records,
    write,
)

WRITES = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3)), max_size=3)
PARTITIONS = st.lists(st.tuples(WRITES, WRITES, WRITES), min_size=1, max_size=3)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["step", "step", "step", "lose", "refuse", "allow", "disk", "write", "retain", "epoch"]
        ),
        st.integers(0, 2),
    ),
    max_size=60,
)
REFUSALS = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.OFFSET_OUT_OF_RANGE,
)


DAMAGED = memoryview(bytes(batch(2)[:-1]) + b"?")


class Cluster:
    """A leader and a follower of some partitions whose histories part, and a disk that may fail."""

    def __init__(self, histories) -> None:
        self.config = LogConfig(segment_bytes=300, index_interval_bytes=100)
        self.followers, logs, self.floors = [], [], []
        for index, (common, on_leader, on_follower) in enumerate(histories):
            leader, log = World(self.config).open(), World(self.config).open()
            for epoch, batches in sorted(common):
                write(leader, epoch * 3, batches, b"common")
                write(log, epoch * 3, batches, b"common")
            self.floors.append(leader.log_end_offset)
            last = max((epoch * 3 for epoch, _ in common), default=-1)
            for epoch, batches in sorted(on_leader):
                write(leader, last + 1 + epoch * 2, batches, b"leader")
            for epoch, batches in sorted(on_follower):
                write(log, last + 2 + epoch * 2, batches, b"follower")
            leader.assign_epoch_start(100, leader.log_end_offset)
            log.update_high_watermark(self.floors[-1])
            leader.update_high_watermark(leader.log_end_offset)
            logs.append(leader)
            self.followers.append(Follower(log, leader_epoch=100, index=index))
        self.fails_next: set[int] = set()
        self.failed_at_ms: dict = {}
        core = core_of(*self.followers, carry_out=self.carry_out)
        self.loop = Loop(core, Leader(logs))

    def carry_out(self, partition: Follower, effects) -> int:
        assert self.loop.core.states[partition.key].state in {
            FetchState.FETCHING,
            FetchState.TRUNCATING,
        }
        if partition.index in self.fails_next:
            self.fails_next.discard(partition.index)
            raise OSError("the disk does not answer")
        size = carry_out(partition, effects)
        floor = max(self.floors[partition.index], partition.log.log_start_offset)
        assert partition.log.log_end_offset >= floor, "a committed record is gone"
        return size

    def happen(self, event: str, which: int) -> None:
        index = which % len(self.followers)
        leader = self.loop.leader
        match event:
            case "step":
                self.step()
            case "lose":
                self.step(is_lost=True)
            case "refuse":
                leader.refusals[index] = REFUSALS[which]
            case "allow":
                leader.refusals.clear()
            case "disk":
                self.fails_next.add(index)
            case "write":
                append(leader.logs[index], 2, epoch=100)
                leader.logs[index].update_high_watermark(leader.logs[index].log_end_offset)
            case "retain":
                log = leader.logs[index]
                log.roll()
                log.delete_records_before(log.high_watermark)
                log.apply_retention(0)
            case "epoch":
                follower = self.followers[index]
                follower.leader_epoch += 1
                self.failed_at_ms.pop(follower.key, None)
                self.loop.core.add(follower)

    def step(self, *, is_lost: bool = False) -> None:
        loop, before_ms = self.loop, self.loop.now_ms
        step = loop.step(is_lost=is_lost)
        if type(step) is SendFetch:
            for key, _ in step.request.positions:
                since_ms = before_ms - self.failed_at_ms.pop(key, before_ms - DELAY_MIN_MS)
                assert since_ms >= DELAY_MIN_MS, "asked again before the delay was over"
        for report in loop.core.reports:
            if isinstance(report, PartitionFailed):
                self.failed_at_ms[TOPIC_ID, report.topic_partition.partition] = loop.now_ms
        loop.core.reports.clear()

    def is_settled(self) -> bool:
        return all(
            follower.log.log_end_offset == leader.log_end_offset
            and follower.log.high_watermark == leader.high_watermark
            and follower.log.log_start_offset == leader.log_start_offset
            for follower, leader in zip(self.followers, self.loop.leader.logs, strict=True)
        )


@settings(max_examples=150, deadline=None)
@given(histories=PARTITIONS, events=EVENTS)
def test_followers_end_with_the_leaders_history_whatever_happens(histories, events):
    cluster = Cluster(histories)
    for event, which in events:
        cluster.happen(event, which)
    cluster.loop.leader.refusals.clear()
    cluster.fails_next.clear()
    cluster.loop.run_until(cluster.is_settled)
    for follower, leader in zip(cluster.followers, cluster.loop.leader.logs, strict=True):
        assert content(follower.log) == content(leader)
        assert with_records(follower.log) == with_records(leader)


@settings(max_examples=100, deadline=None)
@given(
    histories=PARTITIONS,
    answers=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.one_of(
                st.builds(refused, st.sampled_from(sorted(ErrorCode))),
                st.builds(diverging, st.integers(0, 120), st.integers(-1, 40)),
                st.builds(
                    PartitionData,
                    partition_index=st.just(0),
                    high_watermark=st.integers(-1, 60),
                    log_start_offset=st.integers(-1, 60),
                    records=st.sampled_from([DAMAGED, DAMAGED[:40], DAMAGED[:5]]),
                ),
            ),
        ),
        max_size=30,
    ),
)
def test_an_answer_that_changes_nothing_is_followed_by_a_delay_whatever_it_is(histories, answers):
    """And no answer ends the loop."""
    cluster = Cluster(histories)
    loop = cluster.loop
    cluster.floors = [0] * len(cluster.followers)
    for index, answer in answers:
        step = loop.core.next_step(loop.now_ms)
        while type(step) is not SendFetch:
            if isinstance(step, FetchLeaderBounds):
                loop.core.on_leader_bounds(step.state, (70, 80), loop.now_ms)
            else:
                loop.now_ms += step.delay_ms
            step = loop.core.next_step(loop.now_ms)
        assert 0 < step.wait_ms <= WAIT_MAX_MS
        follower = cluster.followers[index % len(cluster.followers)]
        before = follower.log.log_end_offset, follower.log.latest_epoch
        loop.core.on_response(step.request, respond([of(follower.index, answer)]), loop.now_ms)
        state = loop.core.states[follower.key]
        after = follower.log.log_end_offset, follower.log.latest_epoch
        is_good = not (answer.error_code or answer.records or answer.diverging_epoch.epoch >= 0)
        if follower.key in asked(step) and not is_good:
            assert state.state is not FetchState.FETCHING or after != before
        for each in loop.core.states.values():
            assert each.state is not FetchState.TRUNCATING
