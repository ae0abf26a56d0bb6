r"""Properties files as `java.util.Properties` reads and writes them.

A file is lines that end with \n, \r or \r\n and with nothing else: U+2028, U+0085, \v or \x1c
are characters like any other. What `format_properties` writes is ASCII and one line a pair, so it
reads the same as UTF-8, as Kafka does it (ISO-8859-1), and by programs that know no escapes
beyond `key=value`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\n|\r")
_PAIR = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPES = str.maketrans(
    {"\\": "\\\\", **{plain: f"\\{letter}" for letter, plain in _ESCAPED.items()}}
)
_BEYOND_ASCII = re.compile(r"[^ -~]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class PropertiesError(ValueError):
    """A pair that cannot be read or written; the message says where and why, without the value."""


def parse_properties(text: str) -> dict[str, str]:
    r"""Keys and values of a file; of a key that occurs twice the last one counts.

    As in Java, blanks around the separator go and blanks at a value's end stay. Unlike Java, a
    file that ends with nothing but a backslash has no pair with an empty key there.

    Raises:
        PropertiesError: an escape \u without four hexadecimal digits, or half of a surrogate pair.
    """
    found: dict[str, str] = {}
    for number, line in _logical_lines(text):
        _, key, value, _ = _PAIR.split(line, 1)
        found[_unescape(key, number)] = _unescape(value, number)
    return found


def format_properties(settings: Mapping[str, str]) -> str:
    """The file that `parse_properties`, and Java, reads as `settings`, in their order.

    Raises:
        PropertiesError: a key or a value holds half of a surrogate pair, which is no character.
    """
    return "".join(
        f"{_escape_key(key)}={_escape_value(value, key)}\n" for key, value in settings.items()
    )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line from 1, content) of what is neither blank nor a comment."""
    pending, first = "", 0
    for number, line in enumerate(_LINE_END.split(text), 1):
        line = line.lstrip(_BLANKS)
        if not pending:
            # A comment ends with its line, whatever its last character is.
            if not line or line[0] in "#!":
                continue
            first = number
        is_continued = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        pending += line[:-1] if is_continued else line
        if pending and not is_continued:
            yield first, pending
            pending = ""
    if pending:
        yield first, pending


def _unescape(text: str, line: int) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match[1]
        if code == "u":
            raise PropertiesError(f"line {line}: \\u needs four hexadecimal digits")
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)

    if "\\" in text:
        text = _ESCAPE.sub(replace, text)
    if _SURROGATE.search(text):
        text = _SURROGATE_PAIR.sub(_joined, text)
        if _SURROGATE.search(text):
            raise PropertiesError(f"line {line}: half of a surrogate pair is no character")
    return text


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _escape_key(key: str) -> str:
    return re.sub(r"[ =:#!]", r"\\\g<0>", _escape(key, key))


def _escape_value(value: str, key: str) -> str:
    """Only blanks at its beginning could be taken for a part of the separator."""
    escaped = _escape(value, key)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escape(text: str, key: str) -> str:
    if _SURROGATE.search(text):
        raise PropertiesError(f"{key!a} holds half of a surrogate pair, which is no character")
    return _BEYOND_ASCII.sub(_units, text.translate(_ESCAPES))


def _units(run: re.Match[str]) -> str:
    """Characters that are not printable ASCII, as their UTF-16 code units."""
    units = run[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex().upper()}" for at in range(0, len(units), 2))
