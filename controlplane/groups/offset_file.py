"""Offsets as `kafka-consumer-groups.sh --export` writes them and `--from-file` reads them. Pure.

A line is `topic,partition,offset`, or with the group before them where it was exported with others.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass

from controlplane.gateway.types import TP

FILE_CHARS_MAX = 900_000
LINES_MAX = 10_000
TOPIC_CHARS_MAX = 249
PARTITION_MAX = 2**31 - 1
OFFSET_MAX = 2**62
SAID_CHARS_MAX = 60
_ALONE, _WITH_GROUP = 3, 4


class OffsetFileError(ValueError):
    """What is wrong, with its line where it is one line's fault."""


@dataclass(frozen=True, slots=True)
class FileOffset:
    offset: int
    line: int


def parse(text: str, group: str) -> Mapping[TP, FileOffset]:
    """The group's offsets by partition, each with its line, from 1.

    Lines of other groups are passed over. A first line that names columns is, too.

    Raises:
        OffsetFileError: a line is none, names a partition twice, or no line is the group's.
    """
    found: dict[TP, FileOffset] = {}
    others: set[str] = set()
    reader = csv.reader(text.removeprefix("\ufeff").splitlines(), strict=True)
    try:
        for fields in reader:
            line = reader.line_num
            if line > LINES_MAX:
                raise OffsetFileError(f"The file has more than {LINES_MAX} lines.")
            cells = [cell.strip() for cell in fields]
            if not any(cells) or (line == 1 and _is_header(cells)):
                continue
            if len(cells) == _WITH_GROUP and cells[0] != group:
                others.add(cells[0])
                continue
            tp, offset = _offset(cells[-_ALONE:], len(cells), line)
            if tp in found:
                before = found[tp].line
                raise OffsetFileError(
                    f"Line {line}: {_said(tp.topic)}-{tp.partition} is in line {before} already."
                )
            found[tp] = FileOffset(offset, line)
    except csv.Error as error:
        raise OffsetFileError(f"Line {reader.line_num}: {error}.") from error
    if not found:
        raise OffsetFileError(_nothing(group, others))
    return found


def _is_header(cells: list[str]) -> bool:
    return [cell.lower() for cell in cells[-_ALONE:]] == ["topic", "partition", "offset"]


def _offset(cells: list[str], number: int, line: int) -> tuple[TP, int]:
    if number not in {_ALONE, _WITH_GROUP}:
        raise OffsetFileError(
            f"Line {line}: needs topic,partition,offset, or the group before them; it has"
            f" {number} fields."
        )
    topic, partition, offset = cells
    if not topic or len(topic) > TOPIC_CHARS_MAX:
        raise OffsetFileError(f"Line {line}: a topic has 1 to {TOPIC_CHARS_MAX} characters.")
    return (
        TP(topic, _whole(partition, PARTITION_MAX, f"Line {line}: the partition")),
        _whole(offset, OFFSET_MAX, f"Line {line}: the offset"),
    )


def _whole(text: str, most: int, what: str) -> int:
    is_short = len(text) <= len(str(most))
    if not (text.isascii() and text.isdigit() and is_short) or int(text) > most:
        raise OffsetFileError(f"{what} is no whole number from 0 on: {_said(text)}.")
    return int(text)


def _said(text: str) -> str:
    shown = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return shown if len(shown) <= SAID_CHARS_MAX else f"{shown[: SAID_CHARS_MAX - 1]}…"


def _nothing(group: str, others: set[str]) -> str:
    if not others:
        return "The file holds no offset."
    names = ", ".join(_said(name) for name in sorted(others)[:3])
    return f"The file holds no offset of {_said(group)}, only of {names}."
