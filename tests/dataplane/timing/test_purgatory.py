"""Delayed operations complete or expire, exactly once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.timing.purgatory import PURGE_AFTER_COMPLETED, Purgatory


class Operation:
    def __init__(self, *, ready: bool = False) -> None:
        self.ready = ready
        self.ended: list[str] = []

    def is_satisfied(self) -> bool:
        return self.ready

    def complete(self) -> None:
        self.ended.append("completed")

    def expire(self) -> None:
        self.ended.append("expired")


def test_ready_operations_do_not_wait():
    purgatory: Purgatory[str] = Purgatory(0)
    operation = Operation(ready=True)
    assert purgatory.try_complete_else_watch(operation, ["a"], 10)
    assert operation.ended == ["completed"]
    assert len(purgatory) == 0
    assert purgatory.next_due_ms() is None


def test_completion_by_any_key_is_the_only_one():
    purgatory: Purgatory[str] = Purgatory(0)
    operation = Operation()
    assert not purgatory.try_complete_else_watch(operation, ["a", "b", "a"], 10)
    assert purgatory.check("a") == 0
    operation.ready = True
    assert purgatory.check("c") == 0
    assert purgatory.check("b") == 1
    assert purgatory.check("a") == 0
    assert purgatory.advance(100) == 0
    assert operation.ended == ["completed"]


def test_expiry():
    purgatory: Purgatory[str] = Purgatory(0)
    operation = Operation()
    purgatory.try_complete_else_watch(operation, ["a"], 10)
    assert purgatory.advance(9) == 0
    assert purgatory.advance(10) == 1
    operation.ready = True
    assert purgatory.check("a") == 0
    assert operation.ended == ["expired"]


def test_cancelled_keys_expire_their_operations():
    purgatory: Purgatory[str] = Purgatory(0)
    both, other = Operation(), Operation()
    purgatory.try_complete_else_watch(both, ["a", "b"], 10)
    purgatory.try_complete_else_watch(other, ["b"], 10)
    assert purgatory.cancel_key("a") == 1
    assert purgatory.cancel_key("a") == 0
    assert both.ended == ["expired"]
    assert purgatory.advance(10) == 1
    assert both.ended == other.ended == ["expired"]


def test_operation_that_waits_again_on_completion_is_not_lost():
    purgatory: Purgatory[str] = Purgatory(0)
    second = Operation()

    class Chained(Operation):
        def complete(self) -> None:
            super().complete()
            purgatory.try_complete_else_watch(second, ["a"], 50)

    first = Chained()
    purgatory.try_complete_else_watch(first, ["a"], 10)
    first.ready = True
    purgatory.check("a")
    second.ready = True
    assert purgatory.check("a") == 1
    assert second.ended == ["completed"]


def test_done_operations_do_not_pile_up_under_other_keys():
    purgatory: Purgatory[str] = Purgatory(0)
    for _ in range(PURGE_AFTER_COMPLETED + 1):
        operation = Operation()
        purgatory.try_complete_else_watch(operation, ["busy", "quiet"], 10)
        operation.ready = True
        purgatory.check("busy")
    assert len(purgatory._watchers.get("quiet", [])) <= 1


@settings(max_examples=100, deadline=None)
@given(
    moves=st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.sets(st.integers(0, 3), min_size=1), st.integers(1, 100)),
            st.tuples(st.just("ready"), st.integers(0, 50)),
            st.tuples(st.just("check"), st.integers(0, 3)),
            st.tuples(st.just("cancel"), st.integers(0, 3)),
            st.tuples(st.just("time"), st.integers(0, 60)),
        ),
        max_size=80,
    )
)
def test_exactly_once_whatever_happens(moves):
    purgatory: Purgatory[int] = Purgatory(0)
    operations: list[Operation] = []
    now_ms = 0
    for move in moves:
        if move[0] == "add":
            operations.append(Operation())
            purgatory.try_complete_else_watch(operations[-1], move[1], now_ms + move[2])
        elif move[0] == "ready" and move[1] < len(operations):
            operations[move[1]].ready = True
        elif move[0] == "check":
            purgatory.check(move[1])
        elif move[0] == "cancel":
            purgatory.cancel_key(move[1])
        elif move[0] == "time":
            now_ms += move[1]
            purgatory.advance(now_ms)
        assert all(len(operation.ended) <= 1 for operation in operations)
        assert len(purgatory) == sum(not operation.ended for operation in operations)
    purgatory.advance(now_ms + 1000)
    assert all(len(operation.ended) == 1 for operation in operations)
