"""Waiters and deadlines: each is notified exactly once, in order, on time."""

import asyncio
import types

from dataplane.broker.delayed.deferred import Deferred
from dataplane.broker.delayed.purgatory import DelayedOperationPurgatory
from dataplane.broker.delayed.waiting import OffsetWaiters, Wakeups
from dataplane.timing.purgatory import DelayedOperation, WatchList


def test_offset_waiters_are_notified_in_order_and_once() -> None:
    notified: list[tuple[int, bool]] = []
    waiters = OffsetWaiters()
    for offset in (1, 3, 3, 7):
        waiters.add(offset, lambda ok, offset=offset: notified.append((offset, ok)))
    waiters.reach(0)
    assert notified == []
    waiters.reach(3)
    assert notified == [(1, True), (3, True), (3, True)]
    waiters.fail()
    waiters.reach(100)
    assert notified[3:] == [(7, False)]
    assert len(waiters) == 0


class Operation(DelayedOperation):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.expired_at_s = 0.0

    def try_complete(self) -> None:
        self.asked += 1

    def expire(self) -> None:
        self.expired_at_s = asyncio.get_running_loop().time()


async def test_whatever_was_woken_an_operation_is_asked_once_per_step() -> None:
    wakeups, lists = Wakeups(), [WatchList() for _ in range(3)]
    both, one, gone = Operation(), Operation(), Operation()
    both.watch(lists[:2])
    one.watch(lists[1:2])
    gone.watch(lists[:1])
    for _ in range(5):
        for each in lists:
            wakeups.wake(each)
    gone.end()
    assert both.asked == 0
    await asyncio.sleep(0)
    assert (both.asked, one.asked, gone.asked) == (1, 1, 0)
    await asyncio.sleep(0)
    assert both.asked == 1
    wakeups.wake(lists[0])
    await asyncio.sleep(0)
    assert (both.asked, one.asked) == (2, 1)


def test_a_deferred_completes_once() -> None:
    heard: list[int] = []
    deferred: Deferred[int] = Deferred()
    deferred.when_done(heard.append)
    deferred.complete(1)
    deferred.complete(2)
    assert heard == [1]
    deferred.when_done(heard.append)
    assert heard == [1, 1]


async def test_deadlines_come_in_their_order_and_spare_what_has_ended() -> None:
    purgatory = DelayedOperationPurgatory()
    start_s = asyncio.get_running_loop().time()
    late, early, ended = Operation(), Operation(), Operation()
    purgatory.add(late, 80)
    purgatory.add(early, 20)
    purgatory.add(ended, 20)
    ended.end()
    while not late.done:
        await asyncio.sleep(0.005)
    assert 0.02 <= early.expired_at_s - start_s <= late.expired_at_s - start_s
    assert late.expired_at_s - start_s >= 0.08
    assert ended.expired_at_s == 0.0
    assert purgatory.expired == 2


async def test_a_shorter_timeout_is_not_kept_waiting_by_a_longer_one() -> None:
    purgatory = DelayedOperationPurgatory()
    purgatory.add(Operation(), 3_600_000)
    operation = Operation()
    purgatory.add(operation, 10)
    while not operation.done:
        await asyncio.sleep(0.002)
    assert len(purgatory) == 1


class ExactLoop:
    """Calls at the very moment that was asked for, as a loop under virtual time does."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.calls: list[tuple[float, object]] = []

    def time(self) -> float:
        return self.now_s

    def call_at(self, when_s: float, callback) -> types.SimpleNamespace:
        self.calls.append((when_s, callback))
        return types.SimpleNamespace(cancel=lambda: self.calls.remove((when_s, callback)))

    def run(self) -> int:
        """All calls, in their order. How many there were."""
        count = 0
        while self.calls and count < 10_000:
            self.calls.sort(key=lambda call: call[0])
            self.now_s, callback = self.calls.pop(0)
            callback()
            count += 1
        return count


def test_an_idle_purgatory_keeps_no_timer_and_starts_again(monkeypatch) -> None:
    loop = ExactLoop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    purgatory = DelayedOperationPurgatory()
    for start_s in (0.0, 5.0):
        loop.now_s = start_s
        operation = Operation()
        purgatory.add(operation, 10)
        assert len(loop.calls) == 1
        assert loop.run() < 10, "it does not call itself again when nothing waits"
        assert operation.expired_at_s - start_s >= 0.01
        assert loop.calls == []


def test_a_moment_between_two_milliseconds_does_not_make_it_spin(monkeypatch) -> None:
    """1.005 s times 1000 is less than 1005."""
    loop = ExactLoop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    for delay_ms in range(900, 1_200):
        purgatory = DelayedOperationPurgatory()
        operation = Operation()
        loop.now_s = 0.0
        purgatory.add(operation, delay_ms)
        assert loop.run() <= 4, "a bucket on each level"
        assert operation.expired_at_s * 1000 >= delay_ms


async def test_what_has_ended_is_forgotten_at_once() -> None:
    purgatory, waiting = DelayedOperationPurgatory(), WatchList()
    opened = Operation()
    purgatory.add(opened, 3_600_000, [waiting])
    for _ in range(1_000):
        operation = Operation()
        purgatory.add(operation, 3_600_000, [waiting])
        operation.end()
    assert len(purgatory) == len(waiting) == 1
    assert not opened.done


def test_an_abandoned_deferred_notifies_its_maker_and_nobody_else() -> None:
    notified: list[str] = []
    deferred: Deferred[str] = Deferred()
    deferred.when_done(notified.append)
    deferred.on_abandoned = lambda: notified.append("abandoned")
    deferred.abandon()
    deferred.complete("late")
    deferred.abandon()
    assert notified == ["abandoned"]
