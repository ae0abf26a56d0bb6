"""A reader at work: it asks the brokers step by step, and says what it found as it goes.

`reading` is a generator: between two of its steps nothing is under way, so whoever closes it then
cancels the reading; its reader's connection and its seat are given back. Nothing is committed.
"""

import math
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from controlplane.clusters.connections import gateway_for, record_reader
from controlplane.clusters.models import Cluster
from controlplane.common.problems import NotFound, TooManyRequests, field_problem
from controlplane.common.slots import Slots
from controlplane.gateway.patience import bounded, is_over
from controlplane.gateway.record_port import Fetched, Isolation, Span
from controlplane.gateway.types import EARLIEST, LATEST, TP
from controlplane.messages.bounds import (
    FETCH_WAIT_S,
    PAGE_HEADERS_MAX,
    PARTITIONS_MAX,
    PATIENT_SHARE,
    RIGHTS_CHECK_S,
    SCAN_S_MAX,
    SCANNED_BYTES_MAX,
    SCANNED_RECORDS_MAX,
    SILENCE_S,
    STEP_S_MAX,
    TAIL_MESSAGES_PER_S_MAX,
    TAIL_S_MAX,
    WAITS_AFTER_S,
)
from controlplane.messages.expression import EvaluationError
from controlplane.messages.lens import Lens, Seen
from controlplane.messages.merging import AsTheyCome, Merge, NewestFirst, OldestFirst
from controlplane.messages.query import From, Order, Query, cursor_of, spans_of

Frame = tuple[str, dict[str, Any]]
"""The name of an event and its data; `console.event_shapes` documents them."""
READERS_MAX = 12
"""In this process: each holds a connection, and now and then a thread."""
STEP_RECORDS_MAX = 2_000
"""Looked at without a chance to cancel."""
RETRY_AFTER_S = 5
SEATS = Slots()
LIMIT, END, RECORDS, BYTES, SECONDS = "limit", "end", "records", "bytes", "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A reading that is allowed: who looks how at what of which topic."""

    tenant_id: str
    cluster: Cluster
    topic: str
    lens: Lens
    places: "Places"
    is_tail: bool = False
    renewed: Callable[[], Lens] | None = None
    """How this reader looks by now; raises Problem where they may not look any more."""
    silence_s: float = SILENCE_S
    """A partition that ought to bring records and brings none for so long is given up."""


@dataclass(frozen=True, slots=True)
class Places:
    """What is to be read by partition, and partitions that have no leader to ask.

    `held_back`: for `read_committed`, what lies between the last stable offset and the end, by
    partition: an open transaction keeps it from consumers.
    """

    spans: Mapping[int, Span]
    unavailable: list[int]
    held_back: Mapping[int, Span] = field(default_factory=dict)

    def held_back_rows(self) -> list[dict[str, int]]:
        return [
            {"partition": number, "last_stable_offset": span.start, "end_offset": span.end}
            for number, span in sorted(self.held_back.items())
        ]


@dataclass(slots=True)
class Counts:
    """`is_masked`: its bytes are not said: those of one record would tell how long a secret is."""

    is_masked: bool = False
    records: int = 0
    bytes: int = 0
    matched: int = 0
    filter_errors: int = 0
    left_out: int = 0

    def as_dict(self, began_s: float, waits_for: Collection[int] = ()) -> dict[str, Any]:
        return {
            "records": self.records,
            "bytes": None if self.is_masked else self.bytes,
            "matched": self.matched,
            "filter_errors": self.filter_errors,
            "left_out": self.left_out,
            "elapsed_ms": int((time.monotonic() - began_s) * 1000),
            "waits_for": list(waits_for),
        }


def silence_now_s() -> float:
    """How long silent partitions are waited for: no longer than who waits for the whole can."""
    return min(SILENCE_S, bounded(math.inf) * PATIENT_SHARE)


@contextmanager
def seat(tenant_id: str) -> Iterator[None]:
    """Raises TooManyRequests: as many of the tenant's, or of the process's, are reading."""
    bounds = {f"tenant:{tenant_id}": settings.MESSAGE_READERS_PER_TENANT, "process": READERS_MAX}
    if not SEATS.take(bounds):
        raise TooManyRequests(
            "Too many readers of messages are at work; end one, or wait.",
            code="too-many-readers",
            retry_after_s=RETRY_AFTER_S,
        )
    try:
        yield
    finally:
        SEATS.give_back(bounds)


def reading(asked: Asked) -> Generator[list[Frame], None, None]:
    """What a reading finds, a list of frames a step; the last one is `done`.

    Args:
        asked: who looks how at what.

    Raises:
        TooManyRequests: no seat.
        GatewayError: the brokers are away or refuse.
        NotFound, Forbidden, Unavailable: whoever reads may not any more, or nobody can say.
    """
    places = asked.places
    with seat(asked.tenant_id):
        yield [_phase("connecting", asked.lens, places)]
        reader = record_reader(
            asked.cluster, asked.topic, sorted(places.spans), asked.lens.query.isolation
        )
        try:
            scan = _Scan(asked)
            yield [_phase("reading", asked.lens, places)]
            while not scan.ended_by:
                needs = scan.merge.needs()
                if needs:
                    scan.take(needs, reader.fetch(needs, wait_s=bounded(FETCH_WAIT_S)))
                if scan.renew():
                    yield [_phase("reading", scan.lens, places)]
                yield scan.look()
            yield [("done", scan.summary())]
        finally:
            reader.close()


def _phase(phase: str, lens: Lens, places: Places) -> Frame:
    what = {"partitions": sorted(places.spans), "unavailable": places.unavailable}
    held = places.held_back_rows()
    return "phase", {"phase": phase, **what, "masked": bool(lens.masks), "held_back": held}


def places_of(cluster: Cluster, topic: str, query: Query) -> Places:
    """Where the query begins and ends, as the brokers say now.

    Raises:
        NotFound: the brokers have no such topic.
        Invalid: a partition that it has not, or too many at once.
        GatewayError: the brokers are away or refuse.
    """
    gateway = gateway_for(cluster)
    described = gateway.describe_topics([topic]).get(topic)
    if described is None:
        raise NotFound(f"There is no topic {topic}.")
    there = {part.partition for part in described.partitions}
    missing = sorted((query.partitions | set(query.spans)) - there)
    if missing:
        raise field_problem("/partitions", f"{topic} has no partition {missing[0]}.")
    wanted = sorted(set(query.spans) or query.partitions or there)
    if len(wanted) > PARTITIONS_MAX:
        raise field_problem(
            "/partitions", f"At most {PARTITIONS_MAX} partitions at once: choose some."
        )
    tps = [TP(topic, number) for number in wanted]
    lows = gateway.offsets(dict.fromkeys(tps, EARLIEST))
    ends = highs = gateway.offsets(dict.fromkeys(tps, LATEST))
    if query.isolation is Isolation.READ_COMMITTED:
        highs = gateway.offsets(dict.fromkeys(tps, LATEST), query.isolation)
    bounds = {
        tp.partition: Span(lows[tp].offset, max(highs[tp].offset, lows[tp].offset))
        for tp in tps
        if tp in lows and tp in highs
    }
    at_time: dict[int, int] = {}
    if query.start is From.TIME and not query.spans:
        found = gateway.offsets(dict.fromkeys(tps, query.time_ms), query.isolation)
        # None at or after it: the end.
        at_time = {tp.partition: at.offset for tp, at in found.items() if at.offset >= 0}
    unavailable = sorted(set(wanted) - set(bounds))
    held_back = {
        tp.partition: Span(highs[tp].offset, ends[tp].offset)
        for tp in tps
        if tp in highs and tp in ends and highs[tp].offset < ends[tp].offset
    }
    return Places(spans_of(query, bounds, at_time), unavailable, held_back)


@dataclass(slots=True)
class _Silence:
    """Since when partitions that ought to bring records bring none."""

    limit_s: float
    since_s: dict[int, float] = field(default_factory=dict)

    def note(self, needs: Mapping[int, Span], fetched: Fetched) -> None:
        now_s = time.monotonic()
        for number, span in needs.items():
            if fetched.next.get(number, span.start) > span.start:
                self.since_s.pop(number, None)
            else:
                self.since_s.setdefault(number, now_s)
        for number in set(self.since_s) - set(needs):
            del self.since_s[number]

    def long(self) -> list[int]:
        return self.for_s(self.limit_s)

    def for_s(self, seconds: float) -> list[int]:
        """Partitions that have brought nothing for so long."""
        now_s = time.monotonic()
        return sorted(at for at, since_s in self.since_s.items() if now_s - since_s >= seconds)


class _Scan:
    def __init__(self, asked: Asked) -> None:
        self._asked, self._places, self.lens = asked, asked.places, asked.lens
        self._query = asked.lens.query
        self.merge: Merge = _merge(asked)
        self.ended_by = END if self.merge.is_done else ""
        self._counts = Counts(is_masked=bool(asked.lens.masks))
        self._silence, self._silent = _Silence(asked.silence_s), list[int]()
        self._began_s = self._asked_s = time.monotonic()
        self._second, self._shown_in_second = 0, 0
        self._held_bytes, self._headers_shown = 0, 0

    def renew(self) -> bool:
        """Look by what is right now, when it is time to ask; whether other masks apply.

        Rights are lost and masks are set while a tail is open: what is seen after that, buffered or
        not, is seen by them. Raises as `Asked.renewed`.
        """
        now_s = time.monotonic()
        if self._asked.renewed is None or now_s - self._asked_s < RIGHTS_CHECK_S:
            return False
        before, self.lens = self.lens, self._asked.renewed()
        self._asked_s = now_s
        self._counts.is_masked = self._counts.is_masked or bool(self.lens.masks)
        return self.lens.masks != before.masks

    def take(self, needs: Mapping[int, Span], fetched: Fetched) -> None:
        records = [record for rows in fetched.records.values() for record in rows]
        self._counts.bytes += sum(record.size_bytes for record in records)
        self._held_bytes += sum(record.held_bytes for record in records)
        self.merge.give(fetched)
        if self._asked.is_tail:
            return  # nothing new is no silence
        self._silence.note(needs, fetched)
        silent = self._silence.long()
        if silent:
            self._drop(silent)

    def _drop(self, silent: Collection[int]) -> None:
        self._silent += silent
        self.merge.drop(silent)
        for number in silent:
            self._silence.since_s.pop(number, None)

    def look(self) -> list[Frame]:
        """At what has come: the messages that are meant, and how far it is."""
        frames: list[Frame] = []
        until_s = time.monotonic() + STEP_S_MAX
        for _ in range(STEP_RECORDS_MAX):
            record = self.merge.pop()
            if record is None:
                break
            self._counts.records += 1
            seen = self.lens.see(record)
            if self._is_meant(seen):
                self._counts.matched += 1
                if self._has_room():
                    frames.append(("message", self._shown(seen)))
            self.ended_by = self._ended_by()
            if self.ended_by or time.monotonic() >= until_s:
                break
        self.ended_by = self.ended_by or self._ended_by()
        waits_for = self._silence.for_s(WAITS_AFTER_S)
        return [*frames, ("progress", self._counts.as_dict(self._began_s, waits_for))]

    def _is_meant(self, seen: Seen) -> bool:
        try:
            return self.lens.matches(seen)
        except EvaluationError:
            self._counts.filter_errors += 1
            return False

    def _shown(self, seen: Seen) -> dict[str, Any]:
        """With the headers that are left of the page's share; a file has a share of bytes."""
        data = self.lens.shown(seen)
        if not self._query.is_whole:
            headers = data["headers"]
            data["headers"] = headers[: max(PAGE_HEADERS_MAX - self._headers_shown, 0)]
            data["headers_left_out"] += len(headers) - len(data["headers"])
            self._headers_shown += len(data["headers"])
        return data

    def _has_room(self) -> bool:
        """A tail shows so many messages a second: nobody reads more, and browsers stay quick."""
        if not self._asked.is_tail:
            return True
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._shown_in_second, self._headers_shown = second, 0, 0
        self._shown_in_second += 1
        if self._shown_in_second > TAIL_MESSAGES_PER_S_MAX:
            self._counts.left_out += 1
            return False
        return True

    def _ended_by(self) -> str:
        counts, elapsed_s = self._counts, time.monotonic() - self._began_s
        if self._asked.is_tail:
            return SECONDS if elapsed_s >= TAIL_S_MAX else ""
        if counts.matched >= self._query.limit:
            return LIMIT
        if self.merge.is_done:
            return END
        if counts.records >= SCANNED_RECORDS_MAX:
            return RECORDS
        if self._held_bytes >= SCANNED_BYTES_MAX:
            return BYTES
        return SECONDS if elapsed_s >= SCAN_S_MAX or is_over() else ""

    def summary(self) -> dict[str, Any]:
        """How it ended, and the cursor of the page after; None where nothing is left."""
        order = Order.OLDEST if self._asked.is_tail else self._query.order
        left = self.merge.left()
        # Oldest first there is always a page after: what is written later.
        has_more = order is Order.OLDEST or any(span.start < span.end for span in left.values())
        return {
            "ended_by": self.ended_by,
            "cursor": cursor_of(order, left) if has_more and left else None,
            "unavailable": self._places.unavailable,
            "silent": sorted(self._silent),
            "held_back": self._places.held_back_rows(),
            **self._counts.as_dict(self._began_s),
        }


def _merge(asked: Asked) -> Merge:
    query, spans = asked.lens.query, asked.places.spans
    if asked.is_tail:
        return AsTheyCome({number: span.start for number, span in spans.items()})
    if query.order is Order.OLDEST:
        return OldestFirst(spans)
    share = query.limit // max(len(spans), 1) + 1
    return NewestFirst(spans, first_window=query.limit if query.is_filtered else share)
