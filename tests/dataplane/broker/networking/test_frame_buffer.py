"""Frames come out as they went in, however the network cuts them; memory stays bounded."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.broker.networking.frame_buffer import (
    ALIGN_FROM_BYTES,
    INITIAL_BYTES,
    READ_AHEAD_BYTES,
    FrameBuffer,
    FrameError,
)
from dataplane.broker.networking.receive_budget import ReceiveBudget

SIZES = st.one_of(
    st.integers(0, 64),
    st.integers(INITIAL_BYTES - 8, INITIAL_BYTES + 8),
    st.integers(ALIGN_FROM_BYTES - 8, ALIGN_FROM_BYTES + 8),
    st.integers(0, 200_000),
)


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def feed(buffer: FrameBuffer, stream: memoryview, limit: int) -> int:
    """As a socket does: no more than the buffer has space for, no more than has arrived."""
    space = buffer.writable()
    assert len(space) > 0
    count = min(len(space), len(stream), limit)
    space[:count] = stream[:count]
    buffer.written(count)
    return count


@settings(deadline=None, max_examples=40)
@given(st.lists(SIZES, max_size=8), st.lists(st.integers(1, 300_000), min_size=1, max_size=20))
def test_every_frame_arrives_whole(sizes: list[int], cuts: list[int]) -> None:
    bodies = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    stream = memoryview(b"".join(framed(body) for body in bodies))
    buffer = FrameBuffer(1 << 20)
    out, position, turn = [], 0, 0
    while position < len(stream):
        position += feed(buffer, stream[position:], cuts[turn % len(cuts)])
        turn += 1
        while (frame := buffer.next_frame()) is not None:
            out.append(bytes(frame))
    assert out == bodies
    assert buffer.buffered_bytes == 0


@pytest.mark.parametrize("size", [-1, -(2**31), 1001, 2**31 - 1])
def test_an_impossible_size_is_refused(size: int) -> None:
    buffer = FrameBuffer(1000)
    feed(buffer, memoryview(struct.pack(">i", size)), 4)
    with pytest.raises(FrameError):
        buffer.next_frame()


def test_a_hostile_size_costs_nothing_until_bytes_arrive() -> None:
    buffer = FrameBuffer(100 << 20)
    feed(buffer, memoryview(struct.pack(">i", 100 << 20)), 4)
    assert buffer.next_frame() is None
    for _ in range(3):
        feed(buffer, memoryview(b"x" * 10), 10)
        assert buffer.next_frame() is None
    assert buffer.capacity_bytes <= READ_AHEAD_BYTES


def test_a_frame_can_be_put_back() -> None:
    buffer = FrameBuffer(1000)
    feed(buffer, memoryview(framed(b"one") + framed(b"two")), 100)
    first = buffer.next_frame()
    assert first is not None
    buffer.push_back(first)
    again = buffer.next_frame()
    assert again is not None
    assert bytes(again) == b"one"


def test_an_idle_buffer_is_given_back() -> None:
    buffer = FrameBuffer(1 << 20)
    stream = memoryview(framed(b"x" * 500_000))
    position = 0
    frame = None
    while frame is None:
        position += feed(buffer, stream[position:], 1 << 20)
        frame = buffer.next_frame()
    buffer.shrink()
    assert buffer.capacity_bytes == INITIAL_BYTES


def test_large_frames_that_follow_each_other_are_not_moved() -> None:
    """The read is cut at the frame's end, so each frame begins at the head of the buffer."""
    buffer = FrameBuffer(4 << 20)
    frame = framed(b"z" * 700_000)
    stream = memoryview(frame * 6)
    position = 0
    seen = 0
    while position < len(stream):
        position += feed(buffer, stream[position:], 1 << 20)
        while buffer.next_frame() is not None:
            seen += 1
            if seen > 2:
                assert buffer.buffered_bytes == 0
    assert seen == 6
    assert buffer.capacity_bytes <= 1 << 20


def half_sent(buffer: FrameBuffer, size: int, sent: int, key: int = 0) -> None:
    """A peer announces `size` bytes and sends `sent` of them."""
    stream = memoryview(struct.pack(">ih", size, key) + bytes(sent))
    while stream:
        stream = stream[feed(buffer, stream, 1 << 20) :]
        assert buffer.next_frame() is None


def test_an_announced_size_takes_nothing_from_the_budget() -> None:
    budget = ReceiveBudget(1 << 20)
    for _ in range(50):
        half_sent(FrameBuffer(100 << 20, budget), 90 << 20, 10)
    assert budget.used_bytes == 0


@pytest.mark.parametrize(("key", "most"), [(0, 50 << 20), (14, 4 << 20), (3, 1 << 20)])
def test_only_produce_may_be_large_and_lists_of_names_the_least(key: int, most: int) -> None:
    def bounded() -> FrameBuffer:
        buffer = FrameBuffer(50 << 20)
        buffer.bound_requests(other_bytes_max=4 << 20, list_bytes_max=1 << 20)
        return buffer

    half_sent(bounded(), most, 10, key=key)
    with pytest.raises(FrameError, match=f"API key {key}" if key else "frame of"):
        half_sent(bounded(), most + 1, 10, key=key)


def drain(buffer: FrameBuffer) -> int:
    count = 0
    while buffer.next_frame() is not None:
        count += 1
    return count


@pytest.mark.parametrize("size", [200, 4_000, INITIAL_BYTES - 4, INITIAL_BYTES - 5, 60_000])
def test_a_sender_that_fills_the_buffer_is_read_further_ahead(size: int) -> None:
    """Frames that just fit are no exception: else each takes a read, a write and an answer."""
    budget = ReceiveBudget(4 * READ_AHEAD_BYTES)
    buffer = FrameBuffer(1 << 20, budget)
    stream = memoryview(framed(bytes(size)) * (1 + 4 * READ_AHEAD_BYTES // size))
    reads = []
    for _ in range(6):
        count = feed(buffer, stream, 1 << 20)
        stream = stream[count:]
        reads.append(count)
        drain(buffer)
    assert buffer.capacity_bytes == READ_AHEAD_BYTES
    assert max(reads) > READ_AHEAD_BYTES // 2
    assert budget.used_bytes == READ_AHEAD_BYTES - INITIAL_BYTES


def test_a_sender_of_a_frame_at_a_time_takes_no_more() -> None:
    buffer = FrameBuffer(1 << 20, ReceiveBudget(1 << 20))
    for _ in range(50):
        feed(buffer, memoryview(framed(bytes(8_000))), 1 << 20)
        assert drain(buffer) == 1
    assert buffer.capacity_bytes == INITIAL_BYTES


def test_reading_ahead_takes_no_space_that_others_may_need() -> None:
    budget = ReceiveBudget(2 * READ_AHEAD_BYTES - 2 * INITIAL_BYTES)
    buffers = [FrameBuffer(1 << 20, budget) for _ in range(3)]
    for buffer in buffers:
        feed(buffer, memoryview(framed(bytes(100)) * 1_000), 1 << 20)
        drain(buffer)
    assert [buffer.capacity_bytes for buffer in buffers] == [
        READ_AHEAD_BYTES,
        INITIAL_BYTES,
        INITIAL_BYTES,
    ]
    assert budget.paused == 0
    assert not any(buffer.is_starved for buffer in buffers)
