"""Properties files as Java reads them: comments, `=` `:` or blank separators, continued lines."""

from __future__ import annotations

import re

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PAIR = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)


def parse_properties(text: str) -> dict[str, str]:
    """Keys and values of a file; of a key that occurs twice the last one counts."""
    found: dict[str, str] = {}
    pending = ""
    for line in text.splitlines():
        stripped = line.lstrip()
        if not pending and (not stripped or stripped[0] in "#!"):
            continue
        pending += stripped
        if _is_continued(stripped):
            pending = pending[:-1]
            continue
        _put(found, pending)
        pending = ""
    if pending:
        _put(found, pending)
    return found


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _put(found: dict[str, str], line: str) -> None:
    match = _PAIR.fullmatch(line)
    if match is not None and match[1]:
        found[_unescape(match[1])] = _unescape(match[2].rstrip())


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        code = match[1]
        if len(code) == 5:
            return chr(int(code[1:], 16))
        return _ESCAPES.get(code, code)

    return _ESCAPE.sub(replace, text)
