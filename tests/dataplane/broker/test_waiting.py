"""Waiters and deadlines: each is told exactly once, in order, on time."""

import asyncio

from dataplane.broker.deadlines import PURGE_FROM, Deadlines
from dataplane.broker.deferred import Deferred
from dataplane.broker.waiting import OffsetWaiters, Wakeups


def test_offset_waiters_are_told_in_order_and_once() -> None:
    told: list[tuple[int, bool]] = []
    waiters = OffsetWaiters()
    for offset in (1, 3, 3, 7):
        waiters.add(offset, lambda ok, offset=offset: told.append((offset, ok)))
    waiters.reach(0)
    assert told == []
    waiters.reach(3)
    assert told == [(1, True), (3, True), (3, True)]
    waiters.fail()
    waiters.reach(100)
    assert told[3:] == [(7, False)]
    assert len(waiters) == 0


async def test_a_woken_callback_runs_once_per_step() -> None:
    ran = []
    wakeups = Wakeups()
    for _ in range(5):
        wakeups.wake(_appender(ran))
    same = _appender(ran)
    wakeups.wake(same)
    wakeups.wake(same)
    assert ran == []
    await asyncio.sleep(0)
    assert len(ran) == 6
    await asyncio.sleep(0)
    assert len(ran) == 6


def _appender(target: list[int]):
    return lambda: target.append(1)


def test_a_deferred_completes_once() -> None:
    heard: list[int] = []
    deferred: Deferred[int] = Deferred()
    deferred.when_done(heard.append)
    deferred.complete(1)
    deferred.complete(2)
    assert heard == [1]
    deferred.when_done(heard.append)
    assert heard == [1, 1]


class Operation:
    def __init__(self) -> None:
        self.done = False
        self.expired_at_s = 0.0

    def expire(self) -> None:
        self.done = True
        self.expired_at_s = asyncio.get_running_loop().time()


async def test_deadlines_fire_in_their_order_and_spare_what_is_done() -> None:
    deadlines = Deadlines()
    start_s = asyncio.get_running_loop().time()
    late, early, done = Operation(), Operation(), Operation()
    deadlines.add(late, 80)
    deadlines.add(early, 20)
    deadlines.add(done, 20)
    done.done = True
    while not late.done:
        await asyncio.sleep(0.005)
    assert 0.015 <= early.expired_at_s - start_s <= late.expired_at_s - start_s
    assert late.expired_at_s - start_s >= 0.07
    assert done.expired_at_s == 0.0


async def test_what_has_completed_does_not_pile_up() -> None:
    deadlines = Deadlines()
    for _ in range(1000):
        operation = Operation()
        deadlines.add(operation, 60_000)
        operation.done = True
    assert len(deadlines._queues[60_000]) <= 2
    deadlines._timer.cancel()


async def test_completed_operations_behind_an_open_one_do_not_pile_up() -> None:
    deadlines = Deadlines()
    opened = Operation()
    deadlines.add(opened, 3_600_000)
    for _ in range(10 * PURGE_FROM):
        operation = Operation()
        deadlines.add(operation, 3_600_000)
        operation.done = True
    assert deadlines.held <= PURGE_FROM
    assert not opened.done


def test_an_abandoned_deferred_tells_its_maker_and_nobody_else() -> None:
    told: list[str] = []
    deferred: Deferred[str] = Deferred()
    deferred.when_done(told.append)
    deferred.on_abandoned = lambda: told.append("abandoned")
    deferred.abandon()
    deferred.complete("late")
    deferred.abandon()
    assert told == ["abandoned"]
