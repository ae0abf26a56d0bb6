"""The moves of a plan as its diff keeps them, and back."""

from typing import Any

from controlplane.gateway.types import TP
from controlplane.reassignments.rules import Move


def move_dict(move: Move) -> dict[str, Any]:
    return {
        "topic": move.tp.topic,
        "partition": move.tp.partition,
        "before": list(move.before),
        "after": list(move.after),
        "bytes": None if move.is_unsized else move.bytes_to_move,
        "size_bytes": move.size_bytes,
    }


def moves_in(diff: dict[str, Any]) -> list[Move]:
    return [
        Move(
            tp=TP(row["topic"], row["partition"]),
            before=tuple(row["before"]),
            after=tuple(row["after"]),
            size_bytes=row["size_bytes"],
        )
        for row in diff["partitions"]
    ]


def resource_of(moves: list[Move]) -> str:
    topics = sorted({move.tp.topic for move in moves})
    more = f" and {len(topics) - 1} more" if len(topics) > 1 else ""
    return f"reassignment/{topics[0]}{more}"
