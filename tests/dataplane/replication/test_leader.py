"""ISR, high watermark and the minimum ISR (kafka.md §2.2)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.model.errors import ErrorCode
from dataplane.model.partition import PartitionState
from dataplane.replication.effects import AdvanceHighWatermark, ProposeIsr
from dataplane.replication.leader import LeaderCore

LAG_MS = 30_000


def leader(**changes) -> LeaderCore:
    values = {
        "broker_id": 1,
        "leader_epoch": 4,
        "partition_epoch": 10,
        "replicas": (1, 2, 3),
        "isr": (1, 2, 3),
        "min_isr": 1,
        "lag_max_ms": LAG_MS,
        "log_end_offset": 100,
        "high_watermark": 80,
        "now_ms": 0,
    }
    return LeaderCore(**(values | changes))


def fetch(core: LeaderCore, replica: int, offset: int, end: int, now_ms: int = 1):
    return list(core.on_follower_fetch(replica, offset, log_end_offset=end, now_ms=now_ms))


def test_high_watermark_is_the_least_end_over_the_isr():
    core = leader()
    assert fetch(core, 2, 100, 100) == []
    assert fetch(core, 3, 90, 100) == [AdvanceHighWatermark(90)]
    assert fetch(core, 3, 100, 100) == [AdvanceHighWatermark(100)]
    assert core.on_append(105, 2) == ()
    assert fetch(core, 2, 105, 105) == []
    assert fetch(core, 3, 105, 105) == [AdvanceHighWatermark(105)]
    assert core.high_watermark == 105


def test_alone_in_the_isr_every_append_is_committed_at_once():
    core = leader(replicas=(1,), isr=(1,))
    assert list(core.tick(0)) == [AdvanceHighWatermark(100)]
    assert list(core.on_append(101, 0)) == [AdvanceHighWatermark(101)]


def test_high_watermark_never_goes_back():
    core = leader()
    fetch(core, 2, 95, 100)
    assert fetch(core, 3, 90, 100) == [AdvanceHighWatermark(90)]
    assert fetch(core, 3, 20, 100) == []  # it truncated
    assert core.high_watermark == 90


def test_high_watermark_stands_still_below_the_minimum_isr():
    core = leader(isr=(1, 2), min_isr=3)
    assert core.is_under_min_isr()
    assert fetch(core, 2, 100, 100) == []
    core.min_isr = 2
    assert not core.is_under_min_isr()
    assert list(core.tick(1)) == [AdvanceHighWatermark(100)]
    assert not leader(replicas=(1, 2), isr=(1, 2), min_isr=3).is_under_min_isr(), "all there are"


def test_follower_that_lags_too_long_leaves_and_then_the_watermark_moves():
    core = leader()
    fetch(core, 2, 100, 100, now_ms=LAG_MS)
    assert list(core.tick(LAG_MS)) == []
    assert list(core.tick(LAG_MS + 1)) == [ProposeIsr((1, 2), 10)]
    assert core.maximal_isr == {1, 2, 3}, "until the controller has agreed it still counts"
    assert list(core.tick(LAG_MS + 2)) == [], "one change at a time"
    assert list(core.on_isr_committed((1, 2), 11)) == [AdvanceHighWatermark(100)]
    assert (core.isr, core.partition_epoch) == ((1, 2), 11)


def test_slow_follower_that_keeps_the_pace_stays():
    """It is always behind, but always reaches what the leader had one fetch ago."""
    core = leader()
    end = 100
    for step in range(50):
        now_ms = step * 20_000
        fetch(core, 2, end, end, now_ms)
        fetch(core, 3, end - 10, end, now_ms)
        assert not [e for e in core.tick(now_ms) if isinstance(e, ProposeIsr)]
        end += 10
    fetch(core, 2, end, end, 50 * 20_000)
    assert list(core.tick(50 * 20_000 + LAG_MS)) == [ProposeIsr((1, 2), 10)]


def test_follower_at_the_leaders_end_stays_however_long_it_is_silent():
    core = leader()
    fetch(core, 2, 100, 100)
    fetch(core, 3, 100, 100)
    assert list(core.tick(10 * LAG_MS)) == []


def test_last_member_never_leaves():
    core = leader(isr=(1,))
    assert list(core.tick(10 * LAG_MS)) == [AdvanceHighWatermark(100)]


def test_joiner_needs_all_that_is_committed_and_all_of_earlier_epochs():
    core = leader(isr=(1, 2), log_end_offset=100, high_watermark=80)
    assert fetch(core, 3, 79, 100) == []
    assert fetch(core, 3, 99, 100) == [], "the epoch began at 100"
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 10)]
    assert core.maximal_isr == {1, 2, 3}
    assert core.isr == (1, 2)
    core.on_append(110, 2)
    assert fetch(core, 2, 110, 110) == [AdvanceHighWatermark(100)], "the joiner already counts"
    assert fetch(core, 3, 110, 110) == [AdvanceHighWatermark(110)]
    core.on_isr_committed((1, 2, 3), 11)
    assert core.isr == (1, 2, 3)


def test_caught_up_replica_outside_the_isr_holds_the_watermark_so_that_it_can_join():
    core = leader(isr=(1, 2), min_isr=1)
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 10)]
    core.on_isr_rejected(ErrorCode.INELIGIBLE_REPLICA)
    assert core.maximal_isr == {1, 2}
    core.on_append(120, 3)
    assert fetch(core, 2, 120, 120) == [AdvanceHighWatermark(100)]
    assert list(core.tick(LAG_MS + 10)) == [AdvanceHighWatermark(120)], "it lags for good now"


def test_definite_refusal_reverts_and_the_next_fetch_asks_again():
    core = leader(isr=(1, 2))
    fetch(core, 3, 100, 100)
    core.on_isr_rejected(ErrorCode.OPERATION_NOT_ATTEMPTED)
    assert not core.is_change_pending
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 10)]


def test_in_doubt_the_proposal_counts_and_is_repeated():
    core = leader(isr=(1, 2))
    fetch(core, 3, 100, 100)
    assert list(core.on_isr_rejected(ErrorCode.REQUEST_TIMED_OUT)) == []
    assert core.maximal_isr == {1, 2, 3}
    assert list(core.tick(5)) == [ProposeIsr((1, 2, 3), 10)]
    assert list(core.tick(6)) == []


def test_when_the_controller_knows_better_its_word_is_awaited():
    core = leader(isr=(1, 2))
    fetch(core, 3, 100, 100)
    core.on_isr_rejected(ErrorCode.INVALID_UPDATE_VERSION)
    assert core.maximal_isr == {1, 2, 3}
    assert list(core.tick(5)) == []
    state = PartitionState(
        index=0, leader=1, leader_epoch=4, partition_epoch=12, replicas=(1, 2, 3), isr=(1, 2)
    )
    core.on_state(state, now_ms=6)
    assert (core.maximal_isr, core.partition_epoch) == ({1, 2}, 12)
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 12)]


def test_a_state_that_says_nothing_new_leaves_an_open_proposal_counting():
    """A new controller sends it to every leader, and may still take the proposal (seed 402388)."""
    core = leader(isr=(1, 2))
    fetch(core, 3, 100, 100)
    known = PartitionState(
        index=0, leader=1, leader_epoch=4, partition_epoch=10, replicas=(1, 2, 3), isr=(1, 2)
    )
    core.on_state(known, now_ms=LAG_MS * 2)
    assert core.maximal_isr == {1, 2, 3}
    core.on_append(120, LAG_MS * 2)
    assert fetch(core, 2, 120, 120, LAG_MS * 2) == [AdvanceHighWatermark(100)]
    assert list(core.on_isr_committed((1, 2, 3), 11)) == []
    assert core.high_watermark == 100, "broker 3 has no more"


def test_a_state_that_says_nothing_new_ends_a_proposal_that_was_refused():
    core = leader(isr=(1, 2))
    fetch(core, 3, 100, 100)
    core.on_isr_rejected(ErrorCode.INVALID_REQUEST)
    known = PartitionState(
        index=0, leader=1, leader_epoch=4, partition_epoch=10, replicas=(1, 2, 3), isr=(1, 2)
    )
    core.on_state(known, now_ms=6)
    assert core.maximal_isr == {1, 2}
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 10)]


def test_stale_answers_and_states_are_ignored():
    core = leader()
    assert core.on_isr_committed((1,), 9) == ()
    assert core.isr == (1, 2, 3)
    assert core.on_isr_rejected(ErrorCode.REQUEST_TIMED_OUT) == ()
    for epoch, partition_epoch in ((3, 99), (5, 99), (4, 9)):
        state = PartitionState(
            index=0, leader_epoch=epoch, partition_epoch=partition_epoch, replicas=(1,), isr=(1,)
        )
        assert core.on_state(state, now_ms=0) == ()
        assert core.isr == (1, 2, 3)


def test_strangers_do_not_count():
    core = leader()
    assert fetch(core, 9, 1000, 100) == []
    assert core.follower(9) is None


def test_reassignment_adds_and_drops_replicas_and_keeps_what_is_known():
    core = leader()
    fetch(core, 2, 100, 100)
    state = PartitionState(
        index=0, leader=1, leader_epoch=4, partition_epoch=11, replicas=(1, 2, 4), isr=(1, 2)
    )
    assert list(core.on_state(state, now_ms=5)) == [AdvanceHighWatermark(100)]
    assert core.follower(3) is None
    assert fetch(core, 4, 50, 100) == []
    assert fetch(core, 4, 100, 100) == [ProposeIsr((1, 2, 4), 11)]


def test_what_a_leader_may_write_itself_is_its_isr_without_those_that_lag():
    core = leader()
    fetch(core, 2, 100, 100, LAG_MS)
    assert core.isr_without_late(LAG_MS * 2) is None, "nothing was proposed, so nothing waits"
    assert list(core.tick(LAG_MS + 1)) == [ProposeIsr((1, 2), 10)]
    assert core.isr_without_late(LAG_MS + 2) == (1, 2)
    core.on_append(110, LAG_MS + 3)
    assert core.isr_without_late(LAG_MS * 3) == (1,), "2 lags as well by now"
    fetch(core, 2, 110, 110, LAG_MS * 3)
    fetch(core, 3, 110, 110, LAG_MS * 3)
    assert core.isr_without_late(LAG_MS * 3) is None, "both are back, and nothing is held up"


def test_a_leader_never_lets_a_joiner_in_itself():
    core = leader(isr=(1, 2))
    assert fetch(core, 3, 100, 100) == [ProposeIsr((1, 2, 3), 10)]
    assert core.isr_without_late(2) is None
    core.on_append(120, 3)
    fetch(core, 2, 120, 120, LAG_MS * 2)
    assert core.high_watermark == 100, "the joiner counts, and has no more"
    isr = core.isr_without_late(LAG_MS * 2)
    assert isr == (1, 2)
    assert list(core.on_isr_committed(isr, 11)) == [AdvanceHighWatermark(120)]
    assert not core.is_change_pending


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5)),
        st.tuples(st.just("fetch"), st.integers(2, 4), st.integers(0, 6)),
        st.tuples(st.just("time"), st.integers(0, 40_000)),
        st.tuples(st.just("commit")),
        st.tuples(st.just("commit unheard")),
        st.tuples(st.just("own write")),
        st.tuples(st.just("refuse"), st.sampled_from(["REVERT", "DOUBT"])),
    ),
    max_size=120,
)


@settings(max_examples=150, deadline=None)
@given(events=EVENTS, min_isr=st.integers(1, 3))
def test_nothing_is_committed_that_some_possible_isr_lacks(events, min_isr):
    """Whatever the controller may have agreed to, all its members hold what is committed."""
    core = leader(
        replicas=(1, 2, 3, 4), isr=(1, 2, 3), log_end_offset=0, high_watermark=0, min_isr=min_isr
    )
    end, now_ms = 0, 0
    logs = {2: 0, 3: 0, 4: 0}
    epoch = 10
    proposal: ProposeIsr | None = None
    written: tuple[int, ...] = (1, 2, 3)  # what ZooKeeper has, known to the leader or not
    for event in events:
        before = core.high_watermark
        effects = []
        if event[0] == "append":
            end += event[1]
            effects = core.on_append(end, now_ms)
        elif event[0] == "fetch":
            _, who, progress = event
            logs[who] = min(end, logs[who] + progress)
            effects = fetch(core, who, logs[who], end, now_ms)
        elif event[0] == "time":
            now_ms += event[1]
            effects = core.tick(now_ms)
        elif event[0].startswith("commit") and proposal is not None:
            if core.partition_epoch == epoch:
                epoch += 1
                written = proposal.new_isr
            if event[0] == "commit":
                effects = core.on_isr_committed(written, epoch)
                proposal = None
        elif event[0] == "own write":
            isr = core.isr_without_late(now_ms)
            if isr is None:
                continue
            if core.partition_epoch == epoch:  # else it is refused, and what is there is read
                epoch += 1
                written = isr
            effects = core.on_isr_committed(written, epoch)
            proposal = None
        elif event[0] == "refuse" and proposal is not None:
            if event[1] == "DOUBT" or core.partition_epoch < epoch:
                effects = core.on_isr_rejected(ErrorCode.NETWORK_EXCEPTION)
            else:
                effects = core.on_isr_rejected(ErrorCode.OPERATION_NOT_ATTEMPTED)
                proposal = None
        for effect in effects:
            if isinstance(effect, ProposeIsr):
                assert effect.partition_epoch == core.partition_epoch
                assert 1 in effect.new_isr
                proposal = effect
        assert core.high_watermark >= before
        assert core.high_watermark <= end
        assert set(written) <= core.maximal_isr or proposal is None
        if core.high_watermark > before:
            possible = [written, proposal.new_isr] if proposal else [written]
            for members in possible:
                held = [logs[member] for member in members if member != 1]
                assert all(core.high_watermark <= offset for offset in held)
