"""When a group loses its first unread record: from the first moment at which retention may take it
until the last by which it must have.

Retention takes whole segments, once their newest record is out, when it next looks: so the record
is gone by its own expiry, and what its segment spans, and one interval between two looks.
"""

from __future__ import annotations

from dataclasses import dataclass

from controlplane.analytics.verdicts.groups import Verdict

LATEST_MS = 253_402_214_400_000
"""9999-12-31, where dates end; what retention.ms may be is neither a date nor 64 bits then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """How the log of a topic is removed; None is unknown. Kafka's segment.ms, segment.bytes and
    log.retention.check.interval.ms.
    """

    segment_ms: int | None
    segment_bytes: int | None
    check_interval_ms: int | None


def loss_interval_ms(verdict: Verdict, removal: Removal) -> tuple[int | None, int | None]:
    """(from, until) in milliseconds since the epoch; None where no loss is foreseen before
    `LATEST_MS`, or how long a segment may wait is not known.
    """
    if verdict.first_loss_in_s is None:
        return None, None
    from_ms = verdict.sampled_ms + int(verdict.first_loss_in_s * 1000)
    if from_ms > LATEST_MS:
        return None, None
    span_ms = _segment_span_ms(verdict, removal)
    if span_ms is None or removal.check_interval_ms is None:
        return from_ms, None
    until_ms = from_ms + span_ms + removal.check_interval_ms
    return from_ms, until_ms if until_ms <= LATEST_MS else None


def _segment_span_ms(verdict: Verdict, removal: Removal) -> int | None:
    """From a segment's first record to its last: until it is full or old."""
    fills_ms = None
    ingest = verdict.ingest_bytes_per_s
    if removal.segment_bytes is not None and ingest is not None and ingest > 0:
        fills_ms = int(removal.segment_bytes / ingest * 1000)
    found = [ms for ms in (removal.segment_ms, fills_ms) if ms is not None]
    return min(found, default=None)
