"""What a probe has seen of a cluster while a broker was away: gaps and failures. Pure.

A gap is the time between two acknowledgements of one partition, as a client with acks=all sees it.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

GAPS_MAX: Final = 1_000
"""Gaps and failures that a probe keeps; older ones go first."""
GAP_FROM_S: Final = 0.1
"""Twice the pace of the probe: less is no gap, but the pace itself."""
HOLE_S: Final = 2.0
"""Between what two workers have seen: more was seen by nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    partition: int
    began_s: float
    ended_s: float

    @property
    def length_s(self) -> float:
        return self.ended_s - self.began_s


@dataclass(slots=True)
class Track:
    """What became of a probe's records. Seconds since the epoch."""

    partitions: tuple[int, ...]
    began_s: float
    last: dict[int, float] = field(default_factory=dict)
    gaps: deque[Gap] = field(default_factory=lambda: deque(maxlen=GAPS_MAX))
    failures: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=GAPS_MAX))
    acknowledged: int = 0

    @property
    def is_ready(self) -> bool:
        """Every partition has acknowledged something."""
        return len(self.last) == len(self.partitions)

    def acknowledge(self, partition: int, at_s: float) -> None:
        before = self.last.get(partition)
        self.last[partition] = at_s
        self.acknowledged += 1
        if before is not None and at_s - before >= GAP_FROM_S:
            self.gaps.append(Gap(partition=partition, began_s=before, ended_s=at_s))

    def fail(self, at_s: float, reason: str) -> None:
        self.failures.append((at_s, reason))

    def figures(self, since_s: float, now_s: float) -> dict[str, Any]:
        """Of the time from `since_s` on; a partition that is silent now has a gap until now."""
        found = [
            *(gap for gap in self.gaps if gap.ended_s >= since_s),
            *(
                Gap(partition=partition, began_s=at_s, ended_s=now_s)
                for partition, at_s in self.last.items()
                if now_s - at_s >= GAP_FROM_S
            ),
        ]
        worst = max(found, key=lambda gap: gap.length_s, default=None)
        failed = [reason for at_s, reason in self.failures if at_s >= since_s]
        return {
            "from_s": self.began_s,
            "until_s": now_s,
            "gap_s": worst.length_s if worst else 0.0,
            "partition": worst.partition if worst else None,
            "failed": len(failed),
            "error": failed[-1] if failed else "",
        }


def together(
    seen: Iterable[Mapping[str, Any]], since_s: float, until_s: float
) -> dict[str, Any] | None:
    """What several workers' probes saw of one broker's restart; None when none of them did.

    `is_whole`: all of the time was seen by one of them.
    """
    rows = sorted(seen, key=lambda row: float(row["from_s"]))
    if not rows:
        return None
    worst = max(rows, key=lambda row: float(row["gap_s"]))
    covered_s, is_whole = since_s, True
    for row in rows:
        is_whole = is_whole and row["from_s"] <= covered_s + HOLE_S
        covered_s = max(covered_s, row["until_s"])
    return {
        "gap_s": round(float(worst["gap_s"]), 3),
        "partition": worst["partition"],
        "failed": max(int(row["failed"]) for row in rows),
        "error": next((row["error"] for row in rows if row["error"]), ""),
        "is_whole": is_whole and covered_s + HOLE_S >= until_s,
    }
