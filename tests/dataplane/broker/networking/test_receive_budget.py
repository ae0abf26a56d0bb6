"""Space to receive into is bounded, handed on in turn, and never stuck for good."""

from __future__ import annotations

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.broker.networking.frame_buffer import (
    INITIAL_BYTES,
    READ_AHEAD_BYTES,
    FrameBuffer,
    FrameError,
)
from dataplane.broker.networking.receive_budget import (
    FAVOUR_AFTER_S,
    PATIENCE_S,
    QUIET_S,
    ReceiveBudget,
)

MIB = 1 << 20
FIRST = READ_AHEAD_BYTES - INITIAL_BYTES  # what a buffer takes from the budget when it grows first


class Sender:
    """A connection whose peer sends large frames; it reads while the budget lets it."""

    def __init__(self, budget: ReceiveBudget, size: int, *, last_active_s: float = 0.0) -> None:
        self.buffer = FrameBuffer(100 * MIB, budget, self)
        self.last_active_s = last_active_s
        self.is_waiting = False
        self.is_reading = True
        self.is_closed = False
        self.frames = 0
        self._frame = memoryview(struct.pack(">ih", size, 0) + bytes(size - 2))
        self._position = 0

    def pause(self) -> None:
        self.is_reading = False

    def resume(self) -> None:
        assert not self.buffer.is_starved
        self.is_reading = True

    def abort_unfinished(self) -> None:
        self.is_closed = True
        self.is_reading = False
        self.buffer.release()

    def send(self, count: int) -> int:
        """Up to `count` bytes arrive, of one frame after the other. How many were taken."""
        taken = 0
        while taken < count and self.is_reading:
            space = self.buffer.writable()
            assert space, "nothing is read without space"
            part = self._frame[self._position : self._position + min(len(space), count - taken)]
            space[: len(part)] = part
            self.buffer.written(len(part))
            taken += len(part)
            self._position = (self._position + len(part)) % len(self._frame)
            if self.buffer.next_frame() is not None:
                self.frames += 1
        return taken


def test_space_is_never_taken_beyond_the_bound_and_comes_back_whole() -> None:
    budget = ReceiveBudget(4 * MIB)
    senders = [Sender(budget, 3 * MIB) for _ in range(50)]
    for each in senders:
        each.send(2 * MIB)
    assert 0 < budget.used_bytes <= budget.bytes_max
    assert budget.paused == budget.pauses == sum(not each.is_reading for each in senders) > 30
    assert budget.refused == 0
    for each in senders:
        each.buffer.release()
    assert (budget.used_bytes, budget.paused) == (0, 0)


def test_space_that_comes_free_goes_to_the_first_in_line() -> None:
    budget = ReceiveBudget(2 * FIRST)
    holders = [Sender(budget, 500_000) for _ in range(2)]
    line = [Sender(budget, 500_000) for _ in range(3)]
    for each in (*holders, *line):
        each.send(INITIAL_BYTES)
    assert [each.is_reading for each in line] == [False, False, False]
    holders[0].buffer.release()
    assert [each.is_reading for each in line] == [True, False, False]
    holders[1].buffer.release()
    assert [each.is_reading for each in line] == [True, True, False]


def test_small_wishes_pass_a_large_one_for_a_while_and_then_no_more() -> None:
    budget = ReceiveBudget(1_000_000 + FIRST // 2)
    large, holder = Sender(budget, 1_000_000), Sender(budget, 500_000)
    holder.send(INITIAL_BYTES)
    large.send(READ_AHEAD_BYTES)
    assert not large.is_reading
    passing = Sender(budget, 100_000)
    passing.send(INITIAL_BYTES)
    assert passing.is_reading
    budget.relieve(10.0)
    budget.relieve(10.0 + FAVOUR_AFTER_S)
    waiting = Sender(budget, 100_000)
    waiting.send(INITIAL_BYTES)
    assert not waiting.is_reading, "it would fit, and so would the next one, and the next"
    passing.buffer.release()
    assert not waiting.is_reading
    holder.buffer.release()
    assert large.is_reading
    assert not waiting.is_reading
    large.send(1_000_004 - READ_AHEAD_BYTES)
    assert large.frames == 1
    large.buffer.shrink()
    assert waiting.is_reading


def test_what_comes_free_and_is_too_little_for_the_head_goes_to_those_behind_it() -> None:
    budget = ReceiveBudget(4 * FIRST)
    holders = [Sender(budget, 900_000) for _ in range(4)]
    for each in holders:
        each.send(INITIAL_BYTES)
    holders[0].send(READ_AHEAD_BYTES)
    small = Sender(budget, 100_000)
    small.send(INITIAL_BYTES)
    assert [holders[0].is_reading, small.is_reading] == [False, False]
    holders[1].buffer.release()
    assert [holders[0].is_reading, small.is_reading] == [False, True]


def test_buffers_that_are_only_kept_grown_make_space_before_anybody_waits() -> None:
    budget = ReceiveBudget(2 * MIB)
    for _ in range(20):
        sender = Sender(budget, MIB)
        sender.send(MIB + 4)
        assert sender.frames == 1
    assert budget.pauses == 0


def test_a_frame_that_can_never_fit_is_refused_at_once() -> None:
    budget = ReceiveBudget(MIB)
    sender = Sender(budget, 50 * MIB)
    with pytest.raises(FrameError, match="1048576"):
        sender.send(2 * MIB)
    sender.buffer.release()
    assert (budget.used_bytes, budget.refused, budget.paused) == (0, 1, 0)


def test_whoever_leaves_the_line_holds_up_nobody() -> None:
    budget = ReceiveBudget(1_000_000 + FIRST // 2)
    large, holder = Sender(budget, 1_000_000), Sender(budget, 500_000)
    holder.send(INITIAL_BYTES)
    large.send(READ_AHEAD_BYTES)
    budget.relieve(0.0)
    budget.relieve(FAVOUR_AFTER_S)
    small = Sender(budget, 100_000)
    small.send(INITIAL_BYTES)
    assert not small.is_reading
    large.buffer.release()
    assert small.is_reading
    assert budget.paused == 0


def stuck(holding: int, size: int) -> tuple[ReceiveBudget, list[Sender]]:
    """`holding` connections hold all there is, each in the middle of a frame."""
    budget = ReceiveBudget(holding * FIRST)
    holders = [Sender(budget, size) for _ in range(holding)]
    for each in holders:
        each.send(INITIAL_BYTES)
    return budget, holders


def test_those_who_went_quiet_go_first_and_only_after_some_patience() -> None:
    budget, holders = stuck(4, 2 * MIB)
    for place, each in enumerate(holders):
        each.last_active_s = 10.0 + place
    waiting = Sender(budget, 100_000)
    waiting.send(INITIAL_BYTES)
    budget.relieve(100.0)
    budget.relieve(100.0 + PATIENCE_S / 2)
    assert not any(each.is_closed for each in holders)
    budget.relieve(100.0 + PATIENCE_S)
    assert [each.is_closed for each in holders] == [True, False, False, False]
    assert waiting.is_reading
    assert budget.refused == 1


def test_a_line_that_moves_costs_nobody_the_connection() -> None:
    budget, holders = stuck(8, 2 * MIB)
    line = [Sender(budget, 100_000) for _ in range(6)]
    for each in line:
        each.send(INITIAL_BYTES)
    for step in range(6):
        budget.relieve(100.0 + step * PATIENCE_S * 0.9)
        holders[step].buffer.release()
    assert budget.refused == 0
    assert all(each.is_reading for each in line)


def test_when_all_wait_for_each_other_the_last_comer_goes_and_the_others_end() -> None:
    budget, senders = stuck(12, 900_000)
    for each in senders:
        each.send(READ_AHEAD_BYTES)
    assert budget.paused == 12, "everybody holds some, nobody can go on"
    budget.relieve(1.0)
    budget.relieve(1.0 + PATIENCE_S)
    closed = [place for place, each in enumerate(senders) if each.is_closed]
    assert closed == [9, 10, 11], "what the first needs comes from the last comers"
    for _ in range(20):
        for each in senders:
            if not each.frames:
                each.send(900_004 - READ_AHEAD_BYTES)
                each.buffer.shrink()
    assert [each.frames for each in senders] == [1] * 9 + [0] * 3


def test_whoever_still_sends_goes_after_those_who_hold_the_line_up() -> None:
    budget = ReceiveBudget(3_400_000)
    active, large, first, busy = (
        Sender(budget, size) for size in (900_000, 3_000_000, 900_000, 900_000)
    )
    for each in (active, first):
        each.send(INITIAL_BYTES)
    large.send(MIB)
    budget.relieve(0.0)
    budget.relieve(FAVOUR_AFTER_S)
    busy.is_waiting = True
    busy.send(READ_AHEAD_BYTES)
    first.send(READ_AHEAD_BYTES)
    assert [each.is_reading for each in (active, large, first, busy)] == [True] + [False] * 3
    active.last_active_s = now_s = 50.0
    budget.relieve(now_s)
    active.last_active_s = now_s = 50.0 + PATIENCE_S
    budget.relieve(now_s)
    assert large.is_closed
    assert not any(each.is_closed for each in (active, busy, first))


def test_a_connection_with_a_request_in_work_is_the_last_to_go() -> None:
    budget, (busy, dripping) = stuck(2, 2 * MIB)
    busy.is_waiting = True
    waiting = Sender(budget, 100_000)
    waiting.send(INITIAL_BYTES)
    now_s = 100.0
    for _ in range(3):
        dripping.last_active_s = now_s
        budget.relieve(now_s)
        now_s += PATIENCE_S
    assert dripping.is_closed
    assert not busy.is_closed


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_whatever_senders_do_the_bound_holds_and_the_honest_are_served(
    seed: int, others: int
) -> None:
    rng = random.Random(seed)
    budget = ReceiveBudget(3 * MIB)
    hostile = [Sender(budget, rng.randrange(20_000, 2 * MIB)) for _ in range(others)]
    honest = Sender(budget, 700_000)
    now_s = 0.0
    for _ in range(200):
        now_s += PATIENCE_S / 2
        for each in rng.sample(hostile, 2):
            if each.is_closed:
                place = hostile.index(each)  # it comes again
                hostile[place] = Sender(budget, rng.randrange(20_000, 2 * MIB))
                hostile[place].last_active_s = now_s
            elif each.is_reading and each.send(rng.randrange(1, 400_000)):
                each.last_active_s = now_s
        if honest.is_closed:
            honest = Sender(budget, 700_000)
        if honest.is_reading:
            honest.send(700_004)
            honest.last_active_s = now_s
        budget.relieve(now_s)
        everybody = [*hostile, honest]
        assert budget.used_bytes == sum(each.buffer.held_bytes for each in everybody)
        assert budget.used_bytes <= budget.bytes_max
        assert budget.paused == sum(each.buffer.is_starved for each in everybody)
        if honest.frames:
            return
    raise AssertionError("the honest one was never served")


def test_patience_is_long_enough_to_see_who_went_quiet() -> None:
    assert FAVOUR_AFTER_S < PATIENCE_S
    assert QUIET_S <= PATIENCE_S
