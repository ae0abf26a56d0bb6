"""Accounts for every record: the outcomes that writers saw against what the cluster holds.

Pure: it is given ledgers, what was read back, and what a consumer saw on the way.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.faults.ledger import Ledger, Outcome, Sent

EXAMPLES_MAX = 5
"""How many records a violation names; the count says how many there are."""


class Read(NamedTuple):
    """One record as a reader found it."""

    partition: int
    offset: int
    id: str


@dataclasses.dataclass(slots=True)
class Tally:
    """One writer's row of the table."""

    writer: str
    sent: int
    acked: int
    failed: int
    unknown: int
    read: int
    duplicates: int
    out_of_order: int
    longest_gap_s: float


@dataclasses.dataclass(slots=True)
class Account:
    """`violations` maps what went wrong to the records it happened to; empty is as it must be."""

    tallies: list[Tally]
    violations: dict[str, list[str]]

    def table(self) -> str:
        head = ("writer", "sent", "acked", "failed", "unknown", "read")
        head += ("duplicates", "out of order", "longest gap")
        rows = [
            (*dataclasses.astuple(tally)[:-1], f"{tally.longest_gap_s:.2f} s")
            for tally in self.tallies
        ]
        cells = [tuple(str(cell) for cell in row) for row in (head, *rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in cells
        )

    def complaint(self) -> str:
        return "\n".join(
            f"{len(found)} {what}: {', '.join(found[:EXAMPLES_MAX])}"
            for what, found in self.violations.items()
        )


LOST = "acknowledged and not there"
DOUBLED = "of an idempotent writer there twice"
REORDERED = "of an idempotent writer out of order"
INVENTED = "there and never sent"
MISPLACED = "acknowledged at another offset"
REFUSED = "there although refused for certain"
HOLES = "holes in the offsets"
VANISHED = "consumed on the way, and not there or another in the end"
UNSEEN = "acknowledged and never consumed by the group"


def account(
    ledgers: Sequence[Ledger],
    read: Sequence[Read],
    consumed: Iterable[Read] | None = None,
    *,
    since_s: float = 0.0,
) -> Account:
    """`consumed` is what a group saw while it went on, None when there was none."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    in_order = sorted(read)
    at = {(each.partition, each.offset): each.id for each in in_order}
    counts = collections.Counter(each.id for each in in_order)
    sent_by_id = {ledger.id_of(sent): sent for ledger in ledgers for sent in ledger.records}
    for each in in_order:
        sent = sent_by_id.get(each.id)
        if sent is None or sent.partition != each.partition:
            found[INVENTED].append(f"{each.id} at {each.partition}/{each.offset}")
    _check_offsets(in_order, found)
    by_writer: dict[str, list[Read]] = collections.defaultdict(list)
    for each in in_order:
        by_writer[each.id.rpartition(":")[0]].append(each)
    late: dict[str, list[str]] = {}
    for ledger in ledgers:
        _check_outcomes(ledger, counts, at, found)
        late[ledger.writer] = _out_of_order(by_writer[ledger.writer], sent_by_id)
        if ledger.is_idempotent and late[ledger.writer]:
            found[REORDERED] += late[ledger.writer]
    if consumed is not None:
        _check_consumed(ledgers, list(consumed), at, found)
    tallies = [_tally(ledger, counts, len(late[ledger.writer]), since_s) for ledger in ledgers]
    return Account(tallies, dict(found))


def _check_offsets(in_order: Sequence[Read], found: dict[str, list[str]]) -> None:
    """Nothing was deleted or compacted, so every partition begins at 0 and has no gap."""
    expected: dict[int, int] = collections.defaultdict(int)
    for each in in_order:
        if each.offset != expected[each.partition]:
            found[HOLES].append(f"{each.partition}/{expected[each.partition]}…{each.offset}")
        expected[each.partition] = each.offset + 1


def _check_outcomes(
    ledger: Ledger,
    counts: Mapping[str, int],
    at: Mapping[tuple[int, int], str],
    found: dict[str, list[str]],
) -> None:
    for sent in ledger.records:
        name = ledger.id_of(sent)
        count = counts.get(name, 0)
        if sent.outcome is Outcome.ACKED:
            is_elsewhere = sent.offset >= 0 and at.get((sent.partition, sent.offset)) != name
            if not count or is_elsewhere:
                what = MISPLACED if count else LOST
                found[what].append(f"{name} of {sent.partition}/{sent.offset}")
        if sent.outcome is Outcome.FAILED and count:
            found[REFUSED].append(f"{name} ({sent.error})")
        if ledger.is_idempotent and count > 1:
            found[DOUBLED].append(f"{name}, {count} times")


def _out_of_order(read: Sequence[Read], sent_by_id: Mapping[str, Sent]) -> list[str]:
    """First appearances come in the order of sending; a retry's duplicate may come later.

    Promised to idempotent writers only: with one request under way a connection, a client may
    still write to a new leader while an older request to the old one is about to be tried again.
    """
    found = []
    newest: dict[int, int] = collections.defaultdict(lambda: -1)
    seen: set[str] = set()
    for each in read:
        sent = sent_by_id.get(each.id)
        if sent is None or each.id in seen:
            continue
        seen.add(each.id)
        if sent.number < newest[each.partition]:
            found.append(f"{each.id} at {each.partition}/{each.offset}")
        newest[each.partition] = max(newest[each.partition], sent.number)
    return found


def _check_consumed(
    ledgers: Sequence[Ledger],
    consumed: Sequence[Read],
    at: Mapping[tuple[int, int], str],
    found: dict[str, list[str]],
) -> None:
    for each in consumed:
        if at.get((each.partition, each.offset)) != each.id:
            found[VANISHED].append(f"{each.id} of {each.partition}/{each.offset}")
    seen = {each.id for each in consumed}
    for ledger in ledgers:
        missed = [name for sent in ledger.acked() if (name := ledger.id_of(sent)) not in seen]
        if missed:
            found[UNSEEN].extend(missed)


def _tally(ledger: Ledger, counts: Mapping[str, int], out_of_order: int, since_s: float) -> Tally:
    copies = [counts.get(ledger.id_of(sent), 0) for sent in ledger.records]
    return Tally(
        writer=ledger.writer,
        sent=len(ledger.records),
        acked=ledger.count(Outcome.ACKED),
        failed=ledger.count(Outcome.FAILED),
        unknown=ledger.count(Outcome.UNKNOWN) + ledger.count(Outcome.PENDING),
        read=sum(copies),
        duplicates=sum(count - 1 for count in copies if count > 1),
        out_of_order=out_of_order,
        longest_gap_s=ledger.longest_gap_s(since_s),
    )
