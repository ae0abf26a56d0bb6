"""The verifier itself: it must find every kind of wrong, and nothing where all is well."""

from __future__ import annotations

import random

import pytest

from tests.faults import replicas, verifier
from tests.faults.ledger import Ledger, Outcome
from tests.faults.verifier import Read, account


def acked_ledger(
    writer: str, numbers: int, *, is_idempotent: bool = True
) -> tuple[Ledger, list[Read]]:
    """A writer whose records were all acknowledged in one partition, and what is there then."""
    ledger = Ledger(writer, is_idempotent=is_idempotent)
    read = []
    for number in range(numbers):
        sent = ledger.note_sent(0)
        ledger.note_acked(sent, number, at_s=float(number))
        read.append(Read(0, number, ledger.id_of(sent)))
    return ledger, read


def renumbered(read: list[Read]) -> list[Read]:
    """The same records at offsets without holes."""
    return [Read(each.partition, offset, each.id) for offset, each in enumerate(read)]


def without_offsets(ledger: Ledger) -> Ledger:
    for sent in ledger.records:
        sent.offset = -1
    return ledger


def test_nothing_is_found_where_all_is_well() -> None:
    ledger, read = acked_ledger("a", 20)
    done = account([ledger], read, consumed=[*read, *read[5:9]])
    assert done.violations == {}
    row = done.tallies[0]
    assert (row.sent, row.acked, row.read, row.duplicates) == (20, 20, 20, 0)
    assert row.longest_gap_s == 1.0
    assert "longest gap" in done.table()


@pytest.mark.parametrize("victim", [0, 7, 19])
def test_a_lost_record_is_found(victim: int) -> None:
    ledger, read = acked_ledger("a", 20)
    del read[victim]
    done = account([without_offsets(ledger)], renumbered(read))
    assert done.violations == {verifier.LOST: [f"a:{victim} of 0/-1"]}
    assert f"a:{victim}" in done.complaint()


def test_a_doubled_record_of_an_idempotent_writer_is_found() -> None:
    ledger, read = acked_ledger("a", 20)
    read.insert(9, read[8])
    assert account([without_offsets(ledger)], renumbered(read)).violations == {
        verifier.DOUBLED: ["a:8, 2 times"]
    }


def test_a_doubled_record_of_another_writer_is_counted() -> None:
    ledger, read = acked_ledger("a", 20, is_idempotent=False)
    read[10:10] = read[7:10]  # a batch tried again
    done = account([without_offsets(ledger)], renumbered(read))
    assert done.violations == {}
    assert done.tallies[0].duplicates == 3


@pytest.mark.parametrize("is_idempotent", [True, False])
def test_a_reordered_record_is_found(is_idempotent: bool) -> None:
    """It is a wrong of the cluster if the writer is idempotent; else it is counted."""
    ledger, read = acked_ledger("a", 20, is_idempotent=is_idempotent)
    read[4], read[5] = read[5], read[4]
    done = account([without_offsets(ledger)], renumbered(read))
    assert done.violations == ({verifier.REORDERED: ["a:4 at 0/5"]} if is_idempotent else {})
    assert done.tallies[0].out_of_order == 1


def test_partitions_have_orders_of_their_own() -> None:
    ledger = Ledger("a", is_idempotent=True)
    for number in range(4):
        ledger.note_acked(ledger.note_sent(number % 2), number // 2, at_s=0.0)
    read = [Read(1, 0, "a:1"), Read(1, 1, "a:3"), Read(0, 0, "a:0"), Read(0, 1, "a:2")]
    assert account([ledger], read).violations == {}


@pytest.mark.parametrize("stranger", [Read(0, 20, "b:0"), Read(0, 20, "a:20"), Read(1, 0, "a:3")])
def test_an_invented_record_is_found(stranger: Read) -> None:
    ledger, read = acked_ledger("a", 20)
    found = account([ledger], [*read, stranger]).violations
    assert verifier.INVENTED in found


def test_an_acknowledged_offset_must_hold() -> None:
    ledger, read = acked_ledger("a", 3)
    ledger.records[1].offset = 2
    assert list(account([ledger], read).violations) == [verifier.MISPLACED]


def test_unknown_may_be_there_or_not_but_refused_may_not() -> None:
    ledger, read = acked_ledger("a", 4)
    there, absent = ledger.records[2], ledger.note_sent(0)
    for sent in (there, absent):
        ledger.note_error(sent, "_MSG_TIMED_OUT", is_unknown=True)
    done = account([ledger], read)
    assert done.violations == {}
    assert done.tallies[0].unknown == 2
    ledger.note_error(there, "MSG_SIZE_TOO_LARGE", is_unknown=False)
    assert list(account([ledger], read).violations) == [verifier.REFUSED]
    assert ledger.count(Outcome.FAILED) == 1


def test_a_hole_is_found() -> None:
    ledger, read = acked_ledger("a", 20)
    read[10:] = [Read(0, each.offset + 1, each.id) for each in read[10:]]
    assert account([without_offsets(ledger)], read).violations == {verifier.HOLES: ["0/10…11"]}


def test_what_a_consumer_saw_must_stay_and_must_be_all() -> None:
    ledger, read = acked_ledger("a", 20)
    seen = [Read(0, 3, "a:4"), *read[:3], *read[4:]]
    assert account([ledger], read, consumed=seen).violations == {
        verifier.VANISHED: ["a:4 of 0/3"],
        verifier.UNSEEN: ["a:3"],
    }


def test_gaps_begin_with_the_fault() -> None:
    ledger, _ = acked_ledger("a", 3)
    assert ledger.longest_gap_s(since_s=1.5) == 0.5


@pytest.mark.parametrize("seed", range(50))
def test_any_single_wrong_among_several_writers_is_found(seed: int) -> None:
    """Random histories of three writers over three partitions, one error in each."""
    rng = random.Random(seed)
    ledgers = [Ledger(name, is_idempotent=True) for name in "abc"]
    ends = [0, 0, 0]
    read: list[Read] = []
    for _ in range(300):
        ledger, partition = rng.choice(ledgers), rng.randrange(3)
        sent = ledger.note_sent(partition)
        read.append(Read(partition, ends[partition], ledger.id_of(sent)))
        ledger.note_acked(sent, ends[partition], at_s=0.0)
        ends[partition] += 1
    assert account(ledgers, read, consumed=read).violations == {}
    place = rng.randrange(300)
    hit = read[place]
    altered = list(read)
    match rng.choice(["lose", "double", "swap", "invent"]):
        case "lose":
            del altered[place]
        case "double":
            altered.append(Read(hit.partition, ends[hit.partition], hit.id))
        case "swap":
            other = next(each for each in read if each.partition == hit.partition and each != hit)
            altered[place] = Read(hit.partition, hit.offset, other.id)
            altered[read.index(other)] = Read(hit.partition, other.offset, hit.id)
        case "invent":
            altered.append(Read(hit.partition, ends[hit.partition], "d:0"))
    assert account(ledgers, altered).violations


# -- replicas ----------------------------------------------------------------------------------


def batch(base_offset: int, records: int, filling: bytes) -> bytes:
    """A v2 batch as far as its length and offsets go."""
    body = (
        bytes(4) + b"\x02" + bytes(6) + (records - 1).to_bytes(4, "big") + bytes(34) + filling * 9
    )
    return base_offset.to_bytes(8, "big") + len(body).to_bytes(4, "big") + body


def test_replicas_differ_where_a_byte_below_the_watermark_does(tmp_path) -> None:
    for name, filling in (("one", b"x"), ("two", b"x"), ("three", b"y")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{0:020d}.log").write_bytes(batch(0, 5, b"x") + batch(5, 2, filling))
        (tmp_path / name / f"{7:020d}.log").write_bytes(batch(7, 1, b"x"))
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    assert replicas.first_difference([one, two], high_watermark=8) is None
    assert replicas.first_difference([one, three], high_watermark=5) is None
    difference = replicas.first_difference([one, two, three], high_watermark=8)
    assert difference is not None
    assert "offset 5" in difference
    assert "three" in difference


def test_a_replica_that_ends_early_differs(tmp_path) -> None:
    for name, batches in (
        ("one", [batch(0, 5, b"x"), batch(5, 1, b"x")]),
        ("two", [batch(0, 5, b"x")]),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{0:020d}.log").write_bytes(b"".join(batches))
    found = replicas.first_difference([tmp_path / "one", tmp_path / "two"], high_watermark=6)
    assert found is not None
