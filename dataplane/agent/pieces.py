"""A log in several files, read backwards in windows of bounded size. Pure: files are injected."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WINDOW_BYTES: Final = 256 << 10


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """One file of a log. `id` stays with it when it is renamed; `read` takes offset and length."""

    id: str
    size: int
    written_at_ms: int
    read: Callable[[int, int], bytes]


class Place(NamedTuple):
    """Behind what was not read yet: a piece's number, the newest is 0, and an offset in it."""

    piece: int
    offset: int


class Line(NamedTuple):
    """Without its line break. It ends, with that, at `end`."""

    start: int
    end: int
    content: bytes


def newest(pieces: Sequence[Piece]) -> Place | None:
    """Behind everything; None for a log that holds nothing."""
    return settled(pieces, Place(0, pieces[0].size)) if pieces else None


def settled(pieces: Sequence[Piece], place: Place) -> Place | None:
    """The same place with something before it in its piece; None at the beginning of the log."""
    number, offset = place
    while offset <= 0:
        number += 1
        if number >= len(pieces):
            return None
        offset = pieces[number].size
    return Place(number, offset)


def cursor_of(pieces: Sequence[Piece], place: Place | None) -> str | None:
    """A place as text that is good for as long as its file is kept."""
    return None if place is None else f"{pieces[place.piece].id}:{place.offset}"


def place_of(pieces: Sequence[Piece], cursor: str) -> Place | None:
    """None when the file that it names is not there any more."""
    name, _, offset = cursor.partition(":")
    for number, piece in enumerate(pieces):
        if piece.id == name and int(offset) <= piece.size:
            return Place(number, int(offset))
    return None


def window(piece: Piece, end: int) -> list[Line]:
    """The whole lines that end at `end` or before it, as many as the window holds; never none.

    A line that is longer than the window is there with its end alone.
    """
    start = max(0, end - WINDOW_BYTES)
    data = piece.read(start, end - start)
    first = 0
    if start > 0:
        first = data.find(b"\n") + 1
        if first in (0, len(data)):
            return [Line(start, end, data.rstrip(b"\n"))]
    return list(_lines(data, first, start))


def _lines(data: bytes, first: int, start: int) -> Iterator[Line]:
    while first < len(data):
        found = data.find(b"\n", first)
        stop = len(data) if found < 0 else found
        after = min(stop + 1, len(data))
        yield Line(start + first, start + after, data[first:stop].rstrip(b"\r"))
        first = after
