"""The end of a broker's log, entry by entry backwards. Pure.

An entry is a line that begins as the broker's logging begins one, with what follows it: a
traceback, or what the process wrote without its logging. Entries are never cut between two pages.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any, Final

from dataplane.agent.pieces import Line, Piece, Place, cursor_of, newest, place_of, settled, window
from dataplane.agent.questions import LEVELS, LogQuery, QuestionError

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE_MAX: Final = 2_000
"""Characters of a line that are shown."""
TEXT_BYTES_MAX: Final = 128 << 10
"""Of all lines of an answer, as JSON."""
WINDOWS_MAX: Final = 16
"""That one question reads, 4 MiB: a filter that lets little through goes on where it stopped."""

# "2026-11-26 03:47:51,123 INFO dataplane.agent: …"; the broker's last words about its settings.
_HEAD: Final = re.compile(
    rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG|INFO|WARNING|ERROR|CRITICAL) "
    rb"|penstock broker: "
)
_TRACEBACK: Final = b"Traceback (most recent call last):"


@dataclasses.dataclass(slots=True)
class _Entry:
    level: str | None
    lines: list[Line]


def read_log(pieces: Sequence[Piece], query: LogQuery) -> dict[str, Any]:
    """{lines: [{text, level, cut}], next, size_bytes, written_at_ms}, the oldest line first.

    `next` asks for what is before; it is None at the beginning of the log alone. There may be a
    next where no line was found: so far nothing of the level was met.

    Raises:
        QuestionError: what the cursor names is not kept any more, or there is no log.
    """
    if not pieces:
        raise QuestionError("the broker has no log on this host")
    place = newest(pieces)
    if query.before is not None:
        place = place_of(pieces, query.before)
        if place is None:
            raise QuestionError("what was before is not kept any more")
        place = settled(pieces, place)
    found = _Found(query)
    for _ in range(WINDOWS_MAX):
        if place is None or found.is_full:
            break
        place = _one_window(pieces, place, found)
    return {
        "lines": [row for entry in reversed(found.entries) for row in entry],
        "next": cursor_of(pieces, place),
        "size_bytes": sum(piece.size for piece in pieces),
        "written_at_ms": pieces[0].written_at_ms,
    }


class _Found:
    """Entries, the newest first, as far as the answer has room for them."""

    def __init__(self, query: LogQuery) -> None:
        self._rank = 0 if query.level is None else LEVELS.index(query.level)
        self._takes_all = query.level is None
        self._lines_left = query.lines
        self._bytes_left = TEXT_BYTES_MAX
        self.entries: list[list[dict[str, Any]]] = []
        self.is_full = False

    def add(self, entry: _Entry) -> bool:
        """Says whether it was taken, or is of no interest; False: the answer has no room."""
        if not self._takes_all and not (entry.level and LEVELS.index(entry.level) >= self._rank):
            return True
        rows = [_row(line, entry.level) for line in entry.lines[: self._lines_left + 1]]
        costs = [len(json.dumps(row, ensure_ascii=False).encode()) + 1 for row in rows]
        if len(rows) > self._lines_left or sum(costs) > self._bytes_left:
            self.is_full = True
            if self.entries:
                return False
            # Longer than a whole answer: its beginning, so that one can go on behind it.
            rows = _beginning(rows[: self._lines_left], costs, self._bytes_left)
        self.entries.append(rows)
        self._lines_left -= len(rows)
        self._bytes_left -= sum(costs[: len(rows)])
        self.is_full = self.is_full or self._lines_left <= 0
        return True


def _one_window(pieces: Sequence[Piece], place: Place, found: _Found) -> Place | None:
    """Where to go on before what was taken."""
    lines = window(pieces[place.piece], place.offset)
    for entry in reversed(_entries(lines)):
        if not found.add(entry):
            return place
        place = Place(place.piece, entry.lines[0].start)
        if found.is_full:
            break
    return settled(pieces, place)


def _entries(lines: list[Line]) -> list[_Entry]:
    """Those that begin in the window; a window in which none begins is one."""
    found: list[_Entry] = []
    loose: list[Line] = []
    for line in lines:
        head = _HEAD.match(line.content)
        if head is not None:
            found.append(_Entry((head[1] or b"ERROR").decode(), [line]))
        elif found:
            found[-1].lines.append(line)
            if line.content.startswith(_TRACEBACK) and _below_error(found[-1]):
                found[-1].level = "ERROR"  # of the process itself, written behind some other line
        else:
            loose.append(line)
    # What stands before the first head belongs to an entry of the window before, if there is one.
    if loose and (not found or loose[0].start == 0):
        is_bad = any(line.content.startswith(_TRACEBACK) for line in loose)
        found.insert(0, _Entry("ERROR" if is_bad else None, loose))
    return found


def _below_error(entry: _Entry) -> bool:
    return entry.level is not None and LEVELS.index(entry.level) < LEVELS.index("ERROR")


def _row(line: Line, level: str | None) -> dict[str, Any]:
    text = line.content[: LINE_MAX * 4].decode(errors="replace")
    return {
        "text": text[:LINE_MAX],
        "level": level,
        "cut": len(text) > LINE_MAX or len(line.content) > LINE_MAX * 4,
    }


def _beginning(rows: list[dict[str, Any]], costs: list[int], room: int) -> list[dict[str, Any]]:
    kept = []
    for row, cost in zip(rows, costs, strict=False):
        room -= cost
        if room < 0:
            break
        kept.append(row)
    kept[-1]["cut"] = True
    return kept
