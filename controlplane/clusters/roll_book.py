"""What a roll has noted of its brokers: its memo, from which any worker goes on. Pure.

Times are seconds since the epoch, given by the caller; what people read of it is `shown`.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from controlplane.clusters.probe_figures import together
from controlplane.common.times import iso
from controlplane.operations.details import detail_from, rows_beside, rows_of
from controlplane.operations.rolled import (
    CATCHING_UP,
    DONE,
    ELECTING,
    RETURNING,
    ROLLED_MOVES,
    UNDER_WAY,
    WAITING,
)

MEMO: Final = "roll"
OUTCOME: Final = "outcome"
SAID_MAX: Final = 6
"""Obstacles that are shown at once."""
_MARKS: Final = {RETURNING: "restarted_s", CATCHING_UP: "registered_s", ELECTING: "in_sync_s"}
"""The time that is kept of a broker that comes to this state."""


class RollBook:
    """The brokers of one roll in their planned order, over the operation's memo."""

    def __init__(self, memo: dict[str, Any], planned: Iterable[int]) -> None:
        self._memo = memo
        self._roll: dict[str, Any] = memo.setdefault(
            MEMO, {"brokers": [{"id": broker, "state": WAITING} for broker in planned]}
        )

    @property
    def states(self) -> dict[int, str]:
        return {row["id"]: row["state"] for row in self._roll["brokers"]}

    @property
    def under_way(self) -> int | None:
        """The one broker that is being taken, if any."""
        return next((one for one, state in self.states.items() if state in UNDER_WAY), None)

    @property
    def waiting(self) -> list[int]:
        return [broker for broker, state in self.states.items() if state == WAITING]

    @property
    def done(self) -> int:
        return sum(state == DONE for state in self.states.values())

    def row(self, broker: int) -> dict[str, Any]:
        return next(row for row in self._roll["brokers"] if row["id"] == broker)

    def move(self, broker: int, state: str, now_s: float, note: str = "") -> None:
        """Raises IllegalTransitionError: the table has no such move."""
        row = self.row(broker)
        ROLLED_MOVES.check(row["state"], state)
        row |= {"state": state, "since_s": now_s, "note": str(note), "note_parts": rows_of(note)}
        if state in _MARKS:
            row[_MARKS[state]] = now_s
        self._show()

    def note(self, broker: int, text: str) -> None:
        self.row(broker).update(note=str(text), note_parts=rows_of(text))
        self._show()

    def noted(self, broker: int) -> str:
        """What was noted of it last: the detail, if it was one."""
        row = self.row(broker)
        parts = _note_parts(row)
        return detail_from(parts) if parts else str(row.get("note", ""))

    def keep(self, broker: int, **values: Any) -> None:
        self.row(broker).update(values)
        self._show()

    def see(self, broker: int, probe_id: str, figures: Mapping[str, Any]) -> None:
        """Keep what this worker's probe has seen of the broker's restart so far."""
        self.row(broker).setdefault("probes", {})[probe_id] = dict(figures)
        self._show()

    def lasts_s(self, broker: int, now_s: float) -> float:
        """How long the broker has been in its state."""
        return now_s - float(self.row(broker).get("since_s", now_s))

    # -- what is in the way of the next one
    def blocked(self, texts: list[str], now_s: float) -> float:
        """Note what is in the way, as details; for how long something has been, in seconds."""
        self._roll.setdefault("blocked_since_s", now_s)
        self._roll["waiting_for"] = [str(text) for text in texts[:SAID_MAX]]
        self._roll["waiting_for_parts"] = [rows_of(text) for text in texts[:SAID_MAX]]
        self._show()
        return now_s - float(self._roll["blocked_since_s"])

    def clear(self) -> None:
        """Nothing is in the way, or nobody looks."""
        self._roll.pop("blocked_since_s", None)
        self._roll.pop("waiting_for", None)
        self._roll.pop("waiting_for_parts", None)
        self._show()

    # -- the canary
    @property
    def baseline(self) -> dict[str, int] | None:
        return self._roll.get("baseline")

    def set_baseline(self, values: Mapping[str, int]) -> None:
        self._roll["baseline"] = dict(values)

    def worse(self, now_s: float) -> float:
        """It looks worse than before; for how long it has, in seconds."""
        return now_s - float(self._roll.setdefault("worse_since_s", now_s))

    def not_worse(self) -> None:
        self._roll.pop("worse_since_s", None)

    def _show(self) -> None:
        """Beside the memo, as REST shows it."""
        outcome = self._memo.setdefault(OUTCOME, {})
        waits_for = list(self._roll.get("waiting_for", ()))
        outcome["roll"] = {
            "brokers": [_shown(row) for row in self._roll["brokers"]],
            "waiting_for": waits_for,
            "waiting_for_parts": rows_beside(waits_for, self._roll.get("waiting_for_parts", ())),
        }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "state": row["state"],
        "since": _iso(row.get("since_s")),
        "restarted_at": _iso(row.get("restarted_s")),
        "registered_at": _iso(row.get("registered_s")),
        "in_sync_at": _iso(row.get("in_sync_s")),
        "note": row.get("note", ""),
        "note_parts": _note_parts(row),
        "seen": _seen(row),
    }


def _note_parts(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """None of a note that is a text, or that an earlier version has written since."""
    (parts,) = rows_beside([row.get("note", "")], [row.get("note_parts", [])])
    return parts


def _seen(row: Mapping[str, Any]) -> dict[str, Any] | None:
    since_s = row.get("restarted_s")
    probes = row.get("probes")
    if since_s is None or not probes:
        return None
    return together(probes.values(), since_s, row.get("in_sync_s", since_s))


def _iso(at_s: float | None) -> str | None:
    if at_s is None:
        return None
    return iso(datetime.fromtimestamp(at_s, UTC))
