"""Judges histories of chains: exactly once, nothing aborted read, offsets that only go forward.

Pure. Each function answers violations by kind, with the examples; nothing is as it must be.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence

from tests.faults.chains.history import (
    Attempt,
    ChainHistory,
    Decision,
    End,
    Look,
    OffsetSeen,
    Output,
    transform,
)

Violations = dict[str, list[str]]

LOST = "inputs without an output"
DOUBLED = "inputs with more than one output"
INVENTED = "outputs that no attempt of the chain wrote"
COMMITTED_LOST = "committed attempts that are not there whole"
ABORTED_READ = "records of aborted attempts read with read_committed"
TORN = "attempts of unknown end of which a part is there"
NOT_IN_LOG = "read with read_committed and not with read_uncommitted"
VANISHED = "read with read_committed on the way, and not there in the end"
READ_TWICE = "read twice on the way by one reader"
BEYOND_OPEN = "last stable offsets beyond a transaction that the same broker calls open"
BEYOND_OWN = "last stable offsets beyond a transaction that its own client held open"
WENT_BACK = "committed offsets that went back"
UNDECIDED = "transactions without a decision"
HANGING = "transactions open in a partition when all is over"
UNSTABLE = "partitions whose last stable offset is not their end"
OFFSETS_SHORT = "committed offsets that are not the feed's end"


def exactly_once(history: ChainHistory, sources: Iterable[str]) -> Violations:
    """`sources` are the ids of all records of the feed: each has one output, of the transform."""
    found: Violations = collections.defaultdict(list)
    counts = collections.Counter(each.value for each in history.committed)
    for source in sources:
        count = counts.pop(transform(source), 0)
        if count != 1:
            found[DOUBLED if count else LOST].append(f"{source}, {count} times")
    found_of = {attempt.id: attempt for attempt in history.attempts}
    for value in counts:
        found[INVENTED].append(value)
    for each in [*history.committed, *history.uncommitted, *history.read_on_the_way]:
        attempt = found_of.get(each.attempt)
        if attempt is None or each.value not in {transform(one) for one in attempt.sources}:
            found[INVENTED].append(_named(each))
    return dict(found)


def decisions(history: ChainHistory) -> Violations:
    """What was committed is there whole, what was aborted not at all, the rest one or the other."""
    found: Violations = collections.defaultdict(list)
    by_attempt = collections.Counter(each.attempt for each in history.committed)
    for attempt in history.attempts:
        count, whole = by_attempt[attempt.id], len(attempt.sources)
        if attempt.decision is Decision.COMMITTED and count != whole:
            found[COMMITTED_LOST].append(f"{attempt.id}: {count} of {whole}")
        if attempt.decision is Decision.UNKNOWN and count not in (0, whole):
            found[TORN].append(f"{attempt.id}: {count} of {whole}")
    aborted = {a.id for a in history.attempts if a.decision is Decision.ABORTED}
    for each in [*history.committed, *history.read_on_the_way]:
        if each.attempt in aborted:
            found[ABORTED_READ].append(_named(each))
    return dict(found)


def reads_agree(history: ChainHistory) -> Violations:
    """Every reader with read_committed sees the same records at the same offsets, as they lie in
    the log; none comes twice to a reader that never went back.
    """
    found: Violations = collections.defaultdict(list)
    log = set(history.uncommitted)
    final = set(history.committed)
    for each in history.committed:
        if each not in log:
            found[NOT_IN_LOG].append(_named(each))
    for each, count in collections.Counter(history.read_on_the_way).items():
        if each not in final:
            found[VANISHED].append(_named(each))
        if count > 1:
            found[READ_TWICE].append(f"{_named(each)}, {count} times")
    return dict(found)


def stable_offsets(looks: Iterable[Look], attempts: Mapping[str, Sequence[Attempt]]) -> Violations:
    """`attempts` by topic. The stable offset is never beyond what is open in the broker's own
    words, nor beyond what a client that met no error had open from before the question until
    after the answer.
    """
    found: Violations = collections.defaultdict(list)
    placed = collections.defaultdict(list)
    for topic, of_topic in attempts.items():
        for attempt in of_topic:
            if attempt.is_clean and attempt.decision is not Decision.UNKNOWN:
                for one in attempt.placed.values():
                    placed[topic, one.partition].append((one, attempt))
    for look in looks:
        where = f"{look.stable} of {look.topic}-{look.partition} at broker {look.broker}"
        for producer, start in look.before & look.after:
            if look.stable > start:
                found[BEYOND_OPEN].append(f"{where}: producer {producer} open at {start}")
        for one, attempt in placed[look.topic, look.partition]:
            was_open = one.at_s < look.from_s and look.to_s < attempt.closing_s
            if was_open and look.stable > one.offset:
                found[BEYOND_OWN].append(f"{where}: {attempt.id} open at {one.offset}")
    return dict(found)


def committed_offsets(seen: Iterable[OffsetSeen]) -> Violations:
    """An answer is never below one that was complete before it was asked for.

    Answers that require stability compare over all brokers; others with those of the same broker
    only, since one that does not know yet that it was deposed may answer them from memory.
    """
    found: Violations = collections.defaultdict(list)
    series = collections.defaultdict(list)
    for each in seen:
        who = "any" if each.requires_stable else str(each.broker)
        series[each.group, each.partition, who].append(each)
    for of_one in series.values():
        answered = sorted(of_one, key=lambda each: each.to_s)
        newest, position = None, 0
        for each in sorted(of_one, key=lambda each: each.from_s):
            while answered[position].to_s < each.from_s:
                if newest is None or answered[position].offset > newest.offset:
                    newest = answered[position]
                position += 1
            if newest is not None and each.offset < newest.offset:
                found[WENT_BACK].append(
                    f"{each.group}-{each.partition}: {newest.offset} at broker {newest.broker}, "
                    f"{each.to_s - newest.to_s:.2f} s later {each.offset} at {each.broker}"
                )
    return dict(found)


DECIDED = frozenset({"Empty", "CompleteCommit", "CompleteAbort", "Dead"})


def all_decided(states: Mapping[str, str], ends: Iterable[End]) -> Violations:
    """`states` of transactional ids by their coordinators: nothing is open or under way anywhere,
    and what is stable reaches the end everywhere.
    """
    found: Violations = collections.defaultdict(list)
    for name, state in states.items():
        if state not in DECIDED:
            found[UNDECIDED].append(f"{name}: {state}")
    for end in ends:
        where = f"{end.topic}-{end.partition}"
        if end.open_starts:
            found[HANGING].append(f"{where}: {end.open_starts}")
        if end.stable != end.high_watermark:
            found[UNSTABLE].append(f"{where}: {end.stable} of {end.high_watermark}")
    return dict(found)


def offsets_reach(group: str, committed: Mapping[int, int], ends: Mapping[int, int]) -> Violations:
    """A chain that has done everything has committed the end of every partition of its feed."""
    short = [
        f"{group}-{partition}: {committed.get(partition)} of {end}"
        for partition, end in ends.items()
        if end and committed.get(partition) != end
    ]
    return {OFFSETS_SHORT: short} if short else {}


def _named(each: Output) -> str:
    return f"{each.value} of {each.attempt} at {each.partition}/{each.offset}"
