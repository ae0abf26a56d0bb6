"""Delayed operations complete or expire, exactly once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.timing.purgatory import DelayedOperation, Purgatory, WatchList


class Operation(DelayedOperation):
    """Completes when it is asked after it was made `ready`."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = False
        self.ended: list[str] = []

    def try_complete(self) -> None:
        if self.ready and self.end():
            self.ended.append("completed")

    def expire(self) -> None:
        self.ended.append("expired")


def test_completion_by_any_list_is_the_only_one():
    purgatory, lists = Purgatory(0), [WatchList(), WatchList(), WatchList()]
    operation = Operation()
    purgatory.watch(operation, lists[:2], 10)
    lists[0].check()
    operation.ready = True
    lists[2].check()
    assert operation.ended == []
    lists[1].check()
    lists[0].check()
    assert purgatory.advance(100) == 0
    assert operation.ended == ["completed"]
    assert [len(each) for each in lists] == [0, 0, 0]


def test_expiry():
    purgatory, watched = Purgatory(0), WatchList()
    operation = Operation()
    purgatory.watch(operation, [watched], 10)
    assert purgatory.next_due_ms() == 10
    assert purgatory.advance(9) == 0
    assert purgatory.advance(10) == 1
    operation.ready = True
    watched.check()
    assert operation.ended == ["expired"]
    assert (len(purgatory), len(watched), purgatory.expired) == (0, 0, 1)


def test_who_ends_an_operation_has_to_answer_and_nobody_else():
    purgatory, watched = Purgatory(0), WatchList()
    operation = Operation()
    operation.ready = True
    purgatory.watch(operation, [watched], 10)
    assert operation.end()
    assert not operation.end()
    watched.check()
    purgatory.advance(10)
    assert operation.ended == []


def test_operation_that_waits_again_on_completion_is_not_lost():
    purgatory, watched = Purgatory(0), WatchList()
    second = Operation()
    second.ready = True

    class Chained(Operation):
        def try_complete(self) -> None:
            super().try_complete()
            purgatory.watch(second, [watched], 50)

    first = Chained()
    first.ready = True
    purgatory.watch(first, [watched], 10)
    watched.check()
    assert second.ended == [], "who comes during a check waits for the next"
    watched.check()
    assert first.ended == second.ended == ["completed"]


def test_an_operation_that_ends_another_during_a_check():
    purgatory, watched = Purgatory(0), WatchList()
    second = Operation()
    second.ready = True

    class Ending(Operation):
        def try_complete(self) -> None:
            second.end()

    purgatory.watch(Ending(), [watched], 10)
    purgatory.watch(second, [watched], 10)
    watched.check()
    assert second.ended == []
    assert purgatory.advance(10) == 1


@settings(max_examples=100, deadline=None)
@given(
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.sets(st.integers(0, 3), min_size=1), st.integers(1, 100)),
            st.tuples(st.just("ready"), st.integers(0, 50)),
            st.tuples(st.just("check"), st.integers(0, 3)),
            st.tuples(st.just("time"), st.integers(0, 60)),
        ),
        max_size=80,
    )
)
def test_exactly_once_whatever_happens(moves):
    purgatory, lists = Purgatory(0), [WatchList() for _ in range(4)]
    operations: list[Operation] = []
    now_ms = 0
    for move in moves:
        if move[0] == "add":
            operations.append(Operation())
            purgatory.watch(operations[-1], [lists[n] for n in move[1]], now_ms + move[2])
        elif move[0] == "ready" and move[1] < len(operations):
            operations[move[1]].ready = True
        elif move[0] == "check":
            lists[move[1]].check()
        elif move[0] == "time":
            now_ms += move[1]
            purgatory.advance(now_ms)
        assert all(len(operation.ended) <= 1 for operation in operations)
        waiting = [operation for operation in operations if not operation.ended]
        assert len(purgatory) == len(waiting)
        assert {each for watched in lists for each in watched} == set(waiting)
    purgatory.advance(now_ms + 1000)
    assert all(len(operation.ended) == 1 for operation in operations)
    assert not any(map(len, lists))


def test_an_operation_that_does_not_say_how_it_ends_cannot_be_made():
    class Endless(DelayedOperation):
        def try_complete(self) -> None: ...

    with pytest.raises(TypeError, match="expire"):
        Endless()
