"""The table on the terminal and the JSON beside it. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tests.bench.dataplane.results import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.dataplane.results import Row

HEAD = (
    *("figure", "unit", "ours", "Kafka", "floor", "of Kafka", "of floor", "goal", "reached"),
    "machine's limit",
)
_WORDS = {True: "yes", False: "NO", None: "–"}


def render(rows: Sequence[Row]) -> str:
    lines = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    ruler = tuple("-" * width for width in widths)
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (HEAD, ruler, *lines[1:])
    )


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        row.unit,
        spread(row.ours),
        spread(row.kafka),
        spread(row.floor),
        spread(row.ratios),
        spread(row.floor_ratios),
        str(row.goal) if row.goal is not None else "–",
        _WORDS[row.is_reached],
        row.limit or "–",
    )


def to_json(rows: Sequence[Row], circumstances: dict[str, Any]) -> dict[str, Any]:
    """Every sample of every round, so that another run can be laid beside this one."""
    figures = [
        {
            **asdict(row),
            "goal": str(row.goal) if row.goal is not None else None,
            "ratios": row.ratios,
            "floor_ratios": row.floor_ratios,
            "is_reached": row.is_reached,
        }
        for row in rows
    ]
    return {"circumstances": circumstances, "figures": figures}
