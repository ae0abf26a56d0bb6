"""Undecided transactions against a plain list of them, and what asking costs when there are many."""

from __future__ import annotations

import random
import timeit

import pytest

from dataplane.log.producers.undecided import CompletedTransaction, UndecidedTransactions

FEW, MANY = 10, 20_000
TIMES_SLOWER_MAX = 20  # a walk would be MANY / FEW = 2,000 times slower


@pytest.mark.parametrize("seed", range(20))
def test_first_offsets_are_those_of_a_plain_list(seed):
    chance = random.Random(seed)
    undecided = UndecidedTransactions()
    opened: dict[int, int] = {}
    ended: list[CompletedTransaction] = []
    for offset in range(1, 400):
        if opened and chance.random() < 0.5:
            producer_id = chance.choice(list(opened))
            ended.append(CompletedTransaction(producer_id, opened.pop(producer_id), offset, False))
            undecided.end(ended[-1])
        else:
            producer_id = chance.choice([each for each in range(500) if each not in opened])
            opened[producer_id] = offset
            undecided.begin(producer_id, offset)
        if chance.random() < 0.3:
            high_watermark = chance.randint(max(1, offset - 20), offset + 1)
            ended = [each for each in ended if each.last_offset >= high_watermark]
            undecided.on_high_watermark(high_watermark)
        firsts = [*opened.values(), *(each.first_offset for each in ended)]
        assert undecided.first_offset() == min(firsts, default=None)
        assert undecided.first_open_offset() == min(opened.values(), default=None)
        assert bool(undecided) == bool(firsts)
        assert undecided.is_open(producer_id) == (producer_id in opened)


def test_a_snapshot_may_name_them_in_any_order():
    undecided = UndecidedTransactions()
    undecided.load([(1, 30), (2, 10), (3, 20)])
    assert undecided.first_offset() == undecided.first_open_offset() == 10
    undecided.end(CompletedTransaction(2, 10, 40, True))
    assert (undecided.first_offset(), undecided.first_open_offset()) == (10, 20)
    undecided.on_high_watermark(41)
    assert undecided.first_offset() == 20


def seconds_of_asking(count: int, ended: int) -> float:
    """`count` transactions, of which the oldest `ended` are replicated and all but 5 others open."""
    undecided = UndecidedTransactions()
    undecided.load((producer_id, producer_id) for producer_id in range(count))
    for producer_id in range(ended + 5):
        undecided.end(CompletedTransaction(producer_id, producer_id, count + producer_id, False))
    undecided.on_high_watermark(count + ended)

    def ask() -> None:
        undecided.first_offset()
        undecided.first_open_offset()
        undecided.on_high_watermark(count + ended)

    return min(timeit.repeat(ask, number=20, repeat=7))


@pytest.mark.parametrize("ended", [0, MANY - 6])
def test_asking_costs_the_same_with_thousands_open_or_ended(ended):
    slower = seconds_of_asking(MANY, ended) / seconds_of_asking(FEW, 0)
    assert slower < TIMES_SLOWER_MAX
