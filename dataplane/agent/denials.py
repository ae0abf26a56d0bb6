"""What a broker's audit log says was denied, folded: the newest attempts of each kind. Pure.

The log holds other lines too, and bounds itself by principal and address: what it held back is
counted in lines of its own.
"""

from __future__ import annotations

import collections
import json
from typing import TYPE_CHECKING, Any, Final

from dataplane.agent.pieces import Place, newest, settled, window
from dataplane.agent.questions import ATTEMPTS_MAX, DenialsQuery, QuestionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.agent.pieces import Piece

WINDOWS_MAX: Final = 32
"""That one question reads, 8 MiB."""
PART_MAX: Final = 260
"""Characters of one part of an attempt: names of topics and groups are at most as long."""
OF_ONE_MAX: Final = 30
"""Attempts of one principal at one address: who tries many names hides nobody else."""
TEXT_BYTES_MAX: Final = 160 << 10
"""Of all attempts of an answer, as JSON."""
DENIED: Final = ("denied", "login-failed", "handshake-failed")
LEFT_OUT_MAX: Final = 1_000
"""That are counted."""
LATER_BYTES: Final = 40
"""What numbers may grow by, and a comma."""
_SUPPRESSED: Final = "suppressed"
_PARTS: Final = ("event", "principal", "operation", "resource", "host")

Key = tuple[str, ...]


def read_denials(pieces: Sequence[Piece], query: DenialsQuery) -> dict[str, Any]:
    """{attempts, since_ms, is_whole, held_back, left_out}, the newest attempt first.

    An attempt is {event, principal, operation, resource, host, api, count, first_ms, last_ms}.
    `since_ms` is how far back was looked, None where the log holds no line; `is_whole` says that
    the broker keeps nothing older. `held_back` lines the broker did not write as there were too
    many; `left_out` further attempts, older or of who made many, are not among these.

    Raises:
        QuestionError: the broker writes no audit log here.
    """
    if not pieces:
        raise QuestionError("the broker has no audit log on this host")
    found = _Found(min(query.attempts, ATTEMPTS_MAX))
    place = newest(pieces)
    for _ in range(WINDOWS_MAX):
        if place is None:
            break
        lines = window(pieces[place.piece], place.offset)
        for line in reversed(lines):
            found.add(line.content)
        place = settled(pieces, Place(place.piece, lines[0].start))
    return {
        "attempts": list(found.attempts.values()),
        "since_ms": found.since_ms,
        "is_whole": place is None,
        "held_back": found.held_back,
        "left_out": len(found.left_out),
    }


class _Found:
    """Lines come from the newest on."""

    def __init__(self, attempts_max: int) -> None:
        self._attempts_max = attempts_max
        self._bytes_left = TEXT_BYTES_MAX
        self._of_one: collections.Counter[tuple[str, str]] = collections.Counter()
        self.attempts: dict[Key, dict[str, Any]] = {}
        self.left_out: set[Key] = set()
        self.held_back = 0
        self.since_ms: int | None = None

    def add(self, content: bytes) -> None:
        try:
            row = json.loads(content)
        except (ValueError, RecursionError):
            return  # half a line of a broker that was killed, or somebody else's
        if not isinstance(row, dict) or not _is_whole(row.get("time_ms")):
            return
        at_ms, event = row["time_ms"], row.get("event")
        self.since_ms = at_ms
        if event in DENIED:
            self._fold(row, at_ms)
        elif event == _SUPPRESSED and _is_whole(row.get("lines")):
            self.held_back += row["lines"]

    def _fold(self, row: dict[str, Any], at_ms: int) -> None:
        key = tuple(str(row.get(name, ""))[:PART_MAX] for name in _PARTS)
        known = self.attempts.get(key)
        if known is not None:
            known["count"] += 1
            known["first_ms"] = at_ms
        elif not self._has_room(key, row, at_ms) and len(self.left_out) < LEFT_OUT_MAX:
            self.left_out.add(key)

    def _has_room(self, key: Key, row: dict[str, Any], at_ms: int) -> bool:
        """Takes it, unless there are too many."""
        said: dict[str, Any] = dict(zip(_PARTS, key, strict=True))
        said["api"] = str(row.get("api", ""))[:PART_MAX]
        said |= {"count": 1, "first_ms": at_ms, "last_ms": at_ms}
        cost = len(json.dumps(said, ensure_ascii=False).encode(errors="replace")) + LATER_BYTES
        who = said["principal"], said["host"]
        if (
            len(self.attempts) >= self._attempts_max
            or cost > self._bytes_left
            or self._of_one[who] >= OF_ONE_MAX
        ):
            return False
        self._bytes_left -= cost
        self._of_one[who] += 1
        self.attempts[key] = said
        return True


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
