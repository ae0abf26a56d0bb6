"""The checkers themselves: each finds its kind of wrong, and nothing where all is well."""

from __future__ import annotations

import math

import pytest

from tests.faults.chains import checker
from tests.faults.chains.history import (
    Attempt,
    ChainHistory,
    Decision,
    End,
    Look,
    OffsetSeen,
    Output,
    Placed,
    transform,
)


def outputs(attempt: Attempt, first: int) -> list[Output]:
    return [
        Output(0, first + number, attempt.id, transform(source))
        for number, source in enumerate(attempt.sources)
    ]


def history() -> tuple[ChainHistory, list[str]]:
    """One committed, one aborted, one committed attempt, each of two records; a marker each."""
    first = Attempt("c/0/0", "c", ["a", "b"], Decision.COMMITTED)
    dropped = Attempt("c/0/1", "c", ["d", "e"], Decision.ABORTED)
    again = Attempt("c/0/2", "c", ["d", "e"], Decision.COMMITTED)
    made = ChainHistory("c", "topic", [first, dropped, again])
    made.committed = [*outputs(first, 0), *outputs(again, 6)]
    made.uncommitted = [*outputs(first, 0), *outputs(dropped, 3), *outputs(again, 6)]
    made.read_on_the_way = outputs(first, 0)
    return made, ["a", "b", "d", "e"]


def test_nothing_is_found_where_all_is_well() -> None:
    made, sources = history()
    assert checker.exactly_once(made, sources) == {}
    assert checker.decisions(made) == {}
    assert checker.reads_agree(made) == {}


def test_a_lost_output_is_found() -> None:
    made, sources = history()
    del made.committed[3]
    assert checker.exactly_once(made, sources) == {checker.LOST: ["e, 0 times"]}
    assert checker.decisions(made) == {checker.COMMITTED_LOST: ["c/0/2: 1 of 2"]}


def test_an_input_that_no_attempt_took_is_found() -> None:
    made, sources = history()
    assert checker.exactly_once(made, [*sources, "z"]) == {checker.LOST: ["z, 0 times"]}


def test_a_doubled_output_is_found() -> None:
    made, sources = history()
    twice = Attempt("c/1/0", "c", ["a"], Decision.COMMITTED)
    made.attempts.append(twice)
    made.committed += outputs(twice, 9)
    assert checker.exactly_once(made, sources) == {checker.DOUBLED: ["a, 2 times"]}


@pytest.mark.parametrize(
    "alien", [Output(0, 9, "other", transform("a")), Output(0, 9, "c/0/0", transform("d"))]
)
def test_an_output_that_its_attempt_did_not_write_is_found(alien: Output) -> None:
    made, sources = history()
    made.uncommitted.append(alien)
    found = checker.exactly_once(made, sources)[checker.INVENTED]
    assert len(found) == 1
    assert alien.attempt in found[0]


@pytest.mark.parametrize("where", ["committed", "read_on_the_way"])
def test_an_aborted_record_that_was_read_is_found(where: str) -> None:
    made, _ = history()
    getattr(made, where).append(made.uncommitted[2])
    assert len(checker.decisions(made)[checker.ABORTED_READ]) == 1


def test_an_attempt_of_unknown_end_is_there_whole_or_not_at_all() -> None:
    made, _ = history()
    made.attempts[2].decision = Decision.UNKNOWN
    assert checker.decisions(made) == {}
    gone = made.committed.pop()
    assert checker.decisions(made) == {checker.TORN: ["c/0/2: 1 of 2"]}
    made.committed.pop()
    assert checker.decisions(made) == {}
    assert gone.attempt == "c/0/2"


def test_what_was_read_on_the_way_must_stay() -> None:
    made, _ = history()
    moved = made.read_on_the_way[0]._replace(offset=77)
    made.read_on_the_way.append(moved)
    assert list(checker.reads_agree(made)) == [checker.VANISHED]


def test_what_comes_twice_to_one_reader_is_found() -> None:
    made, _ = history()
    made.read_on_the_way.append(made.read_on_the_way[0])
    assert list(checker.reads_agree(made)) == [checker.READ_TWICE]


def test_what_only_read_committed_knows_is_found() -> None:
    made, _ = history()
    made.uncommitted.pop(0)
    assert list(checker.reads_agree(made)) == [checker.NOT_IN_LOG]


NOBODY: frozenset[tuple[int, int]] = frozenset()


def look(stable: int, *, before: object = NOBODY, after: object = NOBODY) -> Look:
    return Look(1, "topic", 0, before, stable, after, 10.0, 11.0)  # type: ignore[arg-type]


def test_a_stable_offset_beyond_an_open_transaction_is_found() -> None:
    mine = frozenset({(7, 40)})
    assert checker.stable_offsets([look(40, before=mine, after=mine)], {}) == {}
    assert checker.stable_offsets([look(41, before=mine)], {}) == {}  # it ended in between
    assert checker.stable_offsets([look(41, after=mine)], {}) == {}  # it began in between
    found = checker.stable_offsets([look(41, before=mine, after=mine)], {})
    assert list(found) == [checker.BEYOND_OPEN]


@pytest.mark.parametrize(
    ("acked_s", "closing_s", "stable", "is_clean", "is_wrong"),
    [
        (9.0, 12.0, 41, True, True),
        (9.0, math.inf, 41, True, True),
        (9.0, 12.0, 40, True, False),
        (10.5, 12.0, 41, True, False),  # acknowledged after the question
        (9.0, 10.5, 41, True, False),  # its end was asked for before the answer
        (9.0, 12.0, 41, False, False),  # somebody may have ended it
    ],
)
def test_a_stable_offset_beyond_what_a_client_holds_open_is_found(
    *, acked_s: float, closing_s: float, stable: int, is_clean: bool, is_wrong: bool
) -> None:
    attempt = Attempt("c/0/0", "c", ["a"], Decision.COMMITTED, is_clean, closing_s)
    attempt.placed[0] = Placed(0, 40, acked_s)
    found = checker.stable_offsets([look(stable)], {"topic": [attempt], "other": []})
    assert list(found) == [checker.BEYOND_OWN] * is_wrong


def seen(offset: int, from_s: float, to_s: float, **more: object) -> OffsetSeen:
    fields = {"group": "g", "partition": 0, "broker": 1, "requires_stable": True, **more}
    return OffsetSeen(offset=offset, from_s=from_s, to_s=to_s, **fields)  # type: ignore[arg-type]


def test_a_committed_offset_that_goes_back_is_found() -> None:
    forward = [seen(5, 1, 2), seen(5, 3, 4, broker=2), seen(9, 5, 6)]
    assert checker.committed_offsets(forward) == {}
    back = [*forward, seen(8, 7, 8, broker=0)]
    assert checker.committed_offsets(reversed(back)) == {
        checker.WENT_BACK: ["g-0: 9 at broker 1, 2.00 s later 8 at 0"]
    }


def test_questions_that_overlap_may_be_answered_in_any_order() -> None:
    assert checker.committed_offsets([seen(9, 1, 4), seen(8, 3, 5)]) == {}
    assert checker.committed_offsets([seen(9, 1, 4), seen(8, 3, 5), seen(8, 4.5, 6)]) != {}


def test_other_groups_and_partitions_do_not_compare() -> None:
    other = [seen(3, 3, 4, group="h"), seen(3, 3, 4, partition=1)]
    assert checker.committed_offsets([seen(9, 1, 2), *other]) == {}


def test_answers_from_memory_compare_with_the_same_broker_only() -> None:
    first = seen(9, 1, 2, requires_stable=False)
    assert checker.committed_offsets([first, seen(8, 3, 4, requires_stable=False, broker=2)]) == {}
    assert checker.committed_offsets([first, seen(8, 3, 4, requires_stable=False)]) != {}


def test_what_is_left_open_is_found() -> None:
    well = End("topic", 0, 9, 9, ())
    assert checker.all_decided({"a": "CompleteCommit", "b": "Empty"}, [well]) == {}
    assert checker.all_decided({"a": "PrepareCommit"}, [well]) == {
        checker.UNDECIDED: ["a: PrepareCommit"]
    }
    assert checker.all_decided({"a": "Ongoing"}, []) == {checker.UNDECIDED: ["a: Ongoing"]}
    assert checker.all_decided({}, [End("topic", 1, 4, 9, (4,))]) == {
        checker.HANGING: ["topic-1: (4,)"],
        checker.UNSTABLE: ["topic-1: 4 of 9"],
    }


def test_offsets_that_do_not_reach_the_end_are_found() -> None:
    assert checker.offsets_reach("g", {0: 4, 1: 7}, {0: 4, 1: 7, 2: 0}) == {}
    assert checker.offsets_reach("g", {0: 4, 1: 6}, {0: 4, 1: 7, 2: 3}) == {
        checker.OFFSETS_SHORT: ["g-1: 6 of 7", "g-2: None of 3"]
    }
