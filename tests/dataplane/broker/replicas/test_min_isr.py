"""min.insync.replicas while requests wait, and when it is changed under them."""

from __future__ import annotations

import pytest

from dataplane.broker.delayed.deferred import Deferred
from dataplane.model.errors import ErrorCode
from tests.dataplane.handlers.one_broker import (
    ME,
    PEER,
    THIRD,
    OneBroker,
    batch,
    read_answer,
    settled,
)
from tests.dataplane.handlers.test_produce import only, produce

ALL = (ME, PEER, THIRD)


@pytest.fixture
def broker():
    return OneBroker(min_insync_replicas="2")


async def asked(broker: OneBroker, timeout_ms: int):
    """A request at acks=all that waits for its followers."""
    request = produce("t", batch("a"), acks=-1, timeout_ms=timeout_ms)
    answer = broker.submit(request, 9)
    assert isinstance(answer, Deferred)
    return request, answer


async def test_an_isr_that_shrinks_below_the_minimum_after_the_append_leaves_it_open(broker):
    """The watermark stands still, so nobody knows: a timeout, or an answer when it has grown."""
    broker.topic("t", replicas=ALL)
    partition = broker.partition("t")
    request, lost = await asked(broker, 20)
    partition.isr_committed((ME,), 1)
    assert partition.high_watermark == 0
    answer = read_answer(request, 9, await settled(lost))
    assert only(answer).error_code == ErrorCode.REQUEST_TIMED_OUT
    partition.isr_committed((ME, PEER), 2)
    request, kept = await asked(broker, 60_000)
    broker.clock.advance(31_000)  # the third is no longer waited for
    partition.on_follower_fetch(PEER, 2)
    assert only(read_answer(request, 9, await settled(kept))).error_code == 0
    await broker.stop()


async def test_what_is_committed_while_the_isr_is_too_small_says_so(broker):
    """The minimum is raised in the moment between the watermark's move and the answer."""
    broker.topic("t", replicas=ALL, isr=(ME, PEER))
    partition = broker.partition("t")
    partition.when_committed(1, lambda _ok: setattr(partition, "min_isr", 3))
    request, answer = await asked(broker, 60_000)
    partition.on_follower_fetch(PEER, 1)
    code = only(read_answer(request, 9, await settled(answer))).error_code
    assert code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    await broker.stop()


async def test_a_lowered_minimum_commits_at_once_what_the_old_one_held_back(broker):
    broker.topic("t", replicas=ALL, isr=(ME,))
    partition = broker.partition("t")
    partition.append_now(bytearray(batch("a")), 1)
    assert partition.high_watermark == 0
    partition.min_isr = 1
    assert partition.high_watermark == 1
    request = produce("t", batch("b"), acks=-1)
    answer = read_answer(request, 9, await settled(broker.submit(request, 9)))
    assert only(answer).error_code == 0
    await broker.stop()


async def test_a_raised_minimum_holds_for_the_leader_that_is(broker):
    broker.topic("t", replicas=ALL, isr=(ME, PEER))
    partition = broker.partition("t")
    partition.min_isr = 3
    request = produce("t", batch("a"), acks=-1)
    answer = read_answer(request, 9, await settled(broker.submit(request, 9)))
    assert only(answer).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    partition.append_now(bytearray(batch("a")), 1)
    partition.on_follower_fetch(PEER, 1)
    assert partition.high_watermark == 0
    await broker.stop()


async def test_at_the_minimum_is_neither_above_nor_below_it(broker):
    broker.topic("t", replicas=ALL)
    partition = broker.partition("t")
    seen = []
    for epoch, isr in enumerate((ALL, (ME, PEER), (ME,)), 1):
        partition.isr_committed(isr, epoch)
        seen.append((partition.is_at_min_isr(), partition.is_under_min_isr()))
    assert seen == [(False, False), (True, False), (False, True)]
    partition.resign()
    assert not partition.is_at_min_isr()
    await broker.stop()
