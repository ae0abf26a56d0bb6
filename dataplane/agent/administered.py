"""What a broker's audit log says was changed, by whom, from where: the newest changes first. Pure.

Of an allowed few operations alone: those that make topics, settings, rules, logins and quotas
otherwise than they were. What failed changed nothing and is left out.

The log bounds itself by principal and address: what it held back may have been changes, and counts
as left out. So does what the end of a change says that is too long.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataplane.agent.pieces import Place, newest, settled, window
from dataplane.agent.questions import CHANGES_MAX, AdministeredQuery, QuestionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataplane.agent.pieces import Piece

OPERATIONS: Final = frozenset(
    {
        "CREATE",
        "DELETE",
        "ALTER",
        "ALTER_CONFIGS",
        "REASSIGN",
        "CREATE_ACL",
        "DELETE_ACL",
        "SET_CREDENTIAL",
        "DELETE_CREDENTIAL",
        "ALTER_QUOTAS",
    }
)
"""Of the audit log (`handlers.audit_entries`); a test holds both to the same names."""
WINDOWS_MAX: Final = 32
"""That one question reads, 8 MiB."""
PART_MAX: Final = 600
"""Characters of one part: a rule's principal, operation and address, some twenty keys."""
TEXT_BYTES_MAX: Final = 160 << 10
"""Of all changes of an answer, as JSON."""
LEFT_OUT_MAX: Final = 1_000
"""That are counted."""
_PARTS: Final = ("principal", "host", "operation", "resource", "detail")
_SUCCESS: Final = "SUCCESS"
_SUPPRESSED: Final = "suppressed"


def read_administered(pieces: Sequence[Piece], query: AdministeredQuery) -> dict[str, Any]:
    """{changes, since_ms, is_whole, left_out}, the newest change first.

    A change is {at_ms, principal, host, operation, resource, detail}. `since_ms` is how far back
    was looked, None where the log holds no line; `is_whole` says that nothing newer than what was
    asked for is missing but what `left_out` counts: further changes, changes without their end (the
    last keys of many), and lines that the broker held back as there were too many.

    Raises:
        QuestionError: the broker writes no audit log here.
    """
    if not pieces:
        raise QuestionError("the broker has no audit log on this host")
    found = _Found(min(query.changes, CHANGES_MAX), query.since_ms)
    place = newest(pieces)
    for _ in range(WINDOWS_MAX):
        if place is None or found.is_past:
            break
        lines = window(pieces[place.piece], place.offset)
        for line in reversed(lines):
            found.add(line.content)
        place = settled(pieces, Place(place.piece, lines[0].start))
    return {
        "changes": found.changes,
        "since_ms": found.since_ms,
        "is_whole": found.is_past or place is None,
        "left_out": found.left_out,
    }


class _Found:
    """Lines come from the newest on; `is_past`: one was older than what is asked for."""

    def __init__(self, changes_max: int, since_ms: int) -> None:
        self._changes_max, self._asked_ms = changes_max, since_ms
        self._bytes_left = TEXT_BYTES_MAX
        self.changes: list[dict[str, Any]] = []
        self.left_out = 0
        self.since_ms: int | None = None
        self.is_past = False

    def add(self, content: bytes) -> None:
        try:
            row = json.loads(content)
        except (ValueError, RecursionError):
            return  # half a line of a broker that was killed, or somebody else's
        if not isinstance(row, dict) or not _is_whole(row.get("time_ms")):
            return
        self.since_ms = row["time_ms"]
        if row["time_ms"] < self._asked_ms:
            self.is_past = True
        elif row.get("event") == _SUPPRESSED:
            self._leave_out(row["lines"] if _is_whole(row.get("lines")) else 1)
        elif (
            row.get("event") == "administered"
            and row.get("outcome") == _SUCCESS
            and row.get("operation") in OPERATIONS
        ):
            self._keep(row)

    def _keep(self, row: dict[str, Any]) -> None:
        parts = {name: str(row.get(name, "")) for name in _PARTS}
        said: dict[str, Any] = {name: text[:PART_MAX] for name, text in parts.items()}
        said["at_ms"] = row["time_ms"]
        cost = len(json.dumps(said, ensure_ascii=False).encode(errors="replace")) + 1
        is_kept = len(self.changes) < self._changes_max and cost <= self._bytes_left
        if not is_kept or any(len(text) > PART_MAX for text in parts.values()):
            self._leave_out(1)
        if not is_kept:
            return
        self._bytes_left -= cost
        self.changes.append(said)

    def _leave_out(self, count: int) -> None:
        self.left_out = min(self.left_out + count, LEFT_OUT_MAX)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
