"""What came out of the scenarios, as tables. Pure."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

DOOR_GOAL_S = 2.0
"""How long any read may take, whatever is broken."""
DOORS_SHOWN = 8
OK, MISSED = "ok", "MISSED"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of one scenario. Gaps are of the partition that went longest without an acknowledgement."""

    name: str
    goal_s: float | None
    gap_s: float
    sent: int
    acked: int
    failed: int
    unknown: int
    read: int
    violations: tuple[str, ...] = ()
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.violations:
            return "BROKEN: " + "; ".join(self.violations)
        if self.goal_s is None:
            return "–"
        return OK if self.gap_s <= self.goal_s else MISSED


@dataclasses.dataclass(frozen=True, slots=True)
class Look:
    """One read of one door. `status` is 0 where no answer came in time."""

    door: str
    status: int
    took_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """All looks during one scenario."""

    scenario: str
    looks: tuple[Look, ...]

    def worst(self) -> dict[str, Look]:
        """The slowest look at each door."""
        found: dict[str, Look] = {}
        for look in self.looks:
            if look.door not in found or look.took_s > found[look.door].took_s:
                found[look.door] = look
        return found

    def late(self) -> list[Look]:
        """Doors that took longer than they may, the slowest first."""
        late = [look for look in self.worst().values() if look.took_s > DOOR_GOAL_S]
        return sorted(late, key=lambda look: -look.took_s)

    def refused(self) -> dict[tuple[str, int], int]:
        """How often a door answered otherwise than with 200 or 304, by door and status."""
        found: dict[tuple[str, int], int] = {}
        for look in self.looks:
            if look.status not in (200, 304):
                key = (look.door, look.status)
                found[key] = found.get(key, 0) + 1
        return found


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [tuple(str(cell).replace("|", "\\|") for cell in row) for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def scenarios(found: Iterable[Figures]) -> str:
    head = ("scenario", "longest gap, s", "goal, s", "", "sent", "acked", "failed", "unknown")
    head += ("read", "remarks")
    return table(
        head,
        [
            (
                each.name,
                f"{each.gap_s:.2f}",
                "–" if each.goal_s is None else f"{each.goal_s:g}",
                each.verdict,
                each.sent,
                each.acked,
                each.failed,
                each.unknown,
                each.read,
                each.note,
            )
            for each in found
        ],
    )


def doors(found: Iterable[Doors]) -> str:
    rows: list[Sequence[object]] = []
    for each in found:
        worst, late = each.worst(), each.late()
        slowest = max((look.took_s for look in worst.values()), default=0.0)
        slow = ", ".join(f"{look.door} {look.took_s:.1f} s" for look in late[:DOORS_SHOWN])
        refused = ", ".join(
            f"{door} {status or 'no answer'} × {count}"
            for (door, status), count in list(each.refused().items())[:DOORS_SHOWN]
        )
        verdict = MISSED if late else OK
        rows.append(
            (each.scenario, len(each.looks), len(worst), f"{slowest:.2f}", verdict, slow, refused)
        )
    head = ("during", "reads", "doors", "slowest, s", "≤ 2 s", "over 2 s", "not 200")
    return table(head, rows)


def page(figures: Sequence[Figures], looks: Sequence[Doors]) -> str:
    return (
        "# Many hosts on one machine\n\nWritten by `make test-hosts`. The gap is the longest time "
        "between two acknowledgements of one partition since\nthe fault began, of an idempotent and "
        "a plain writer with acks=all. Every record sent is accounted for.\n\n"
        f"{scenarios(figures)}\n\n## Reads of the control plane meanwhile\n\n{doors(looks)}\n"
    )


def summary(wanted: Sequence[str], passed: Collection[str], failed: Collection[str]) -> str:
    """The last line: a scenario that was never played to its end has neither passed nor failed."""
    parts = [f"{len(passed)} passed", f"{len(failed)} failed"]
    if left := [name for name in wanted if name not in passed and name not in failed]:
        parts.append(f"{len(left)} not played ({', '.join(left)})")
    return ", ".join(parts) if wanted else "no scenario has that in its name"
