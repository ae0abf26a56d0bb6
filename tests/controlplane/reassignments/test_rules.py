"""What moves, how long it takes, how far it is."""

import pytest

from controlplane.gateway.types import TP
from controlplane.reassignments.rules import (
    Move,
    bytes_arrived,
    moves_of,
    next_batch,
    seconds_estimated,
    survey,
)


def move(i, before, after, size=100):
    return Move(tp=TP("t", i), before=before, after=after, size_bytes=size)


def test_only_what_changes_moves():
    moves = moves_of(
        {TP("t", 0): (1, 2), TP("t", 1): (2, 3)},
        {TP("t", 0): (1, 3), TP("t", 1): (2, 3)},
        {TP("t", 0): 100},
    )
    assert moves == [move(0, (1, 2), (1, 3))]


def test_what_is_unknown_stays_unknown_and_is_never_nothing():
    (moved,) = moves_of({TP("t", 0): (1, 2)}, {TP("t", 0): (1, 3)}, {})
    known = move(1, (1, 2), (1, 3))
    assert moved.size_bytes is None
    assert moved.is_unsized
    assert not known.is_unsized
    assert seconds_estimated([moved, known], 50, batch_size=1) is None
    # Another order of the same replicas moves nothing, whatever the size.
    reordered = move(2, (1, 2), (2, 1), size=None)
    assert not reordered.is_unsized
    assert seconds_estimated([reordered, known], 50, batch_size=1) == 2.0


@pytest.mark.parametrize(
    ("moves", "batch_size", "seconds"),
    [
        ([move(0, (1, 2), (1, 3))], 10, 2.0),
        # Broker 4 receives both.
        ([move(0, (1,), (4,)), move(1, (2,), (4,))], 10, 4.0),
        # Broker 1 sends both, to different brokers.
        ([move(0, (1,), (3,)), move(1, (1,), (4,))], 10, 4.0),
        # One leader feeds two new replicas.
        ([move(0, (1, 2), (3, 4))], 10, 4.0),
        # Nothing in common, but one after the other.
        ([move(0, (1,), (3,)), move(1, (2,), (4,))], 1, 4.0),
        ([move(0, (1,), (3,)), move(1, (2,), (4,))], 2, 2.0),
        ([move(0, (1, 2), (2, 1))], 1, 0.0),
    ],
)
def test_the_throttle_bounds_every_broker_both_ways(moves, batch_size, seconds):
    assert seconds_estimated(moves, 50, batch_size=batch_size) == seconds
    assert seconds_estimated(moves, None, batch_size=batch_size) is None


def test_survey_sorts_and_batches_are_bounded():
    moves = [move(i, (1, 2), (1, 3)) for i in range(5)]
    now = {TP("t", 0): (1, 3), TP("t", 1): (1, 2), TP("t", 2): (1, 2), TP("t", 3): (7, 8)}
    found = survey(moves, now=now, ongoing={TP("t", 1)})
    assert [m.tp.partition for m in found.done] == [0]
    assert [m.tp.partition for m in found.moving] == [1]
    assert [m.tp.partition for m in found.todo] == [2]
    assert [m.tp.partition for m in found.foreign] == [3]
    assert [m.tp.partition for m in found.gone] == [4]
    everybody = {1, 2, 3}
    assert next_batch(found, batch_size=1, live=everybody) == ((), ())
    batch, away = next_batch(found, batch_size=9, live=everybody)
    assert ([m.tp.partition for m in batch], away) == ([2], ())


def test_moves_to_whoever_is_not_up_wait_and_the_others_go_on():
    moves = [move(0, (1, 2), (1, 4)), move(1, (1, 2), (1, 3)), move(2, (2, 1), (5, 4))]
    now = {TP("t", part): moves[part].before for part in range(3)}
    found = survey(moves, now=now, ongoing=())
    batch, away = next_batch(found, batch_size=9, live={1, 2, 3})
    assert ([m.tp.partition for m in batch], away) == ([1], (4, 5))


def test_bytes_arrived_never_exceeds_what_was_asked():
    moves = [move(0, (1, 2), (3, 4))]
    sizes = {(3, TP("t", 0)): 500, (4, TP("t", 0)): 40}
    assert bytes_arrived(moves, sizes) == (140, 200)
