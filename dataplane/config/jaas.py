"""JAAS lines as `sasl.jaas.config` has them: `LoginModule required option="value" …;`."""

from __future__ import annotations

import re
from typing import NamedTuple

FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s="';]+)|([=;]))""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}


class JaasEntry(NamedTuple):
    """One login module with its options, which may be secrets."""

    module: str
    options: dict[str, str]

    def __repr__(self) -> str:
        return f"JaasEntry({self.module!r}, options of {len(self.options)} names)"


def parse_jaas(text: str) -> JaasEntry:
    """Read exactly one entry. ValueError says what is missing and shows no value."""
    tokens = list(_tokens(text))
    words = [token for token in tokens if token not in (("=", True), (";", True))]
    if not tokens or tokens[-1] != (";", True):
        raise ValueError("a JAAS entry ends with a semicolon")
    if len(words) < 2 or tokens[0][1] or tokens[1][0].lower() not in FLAGS:
        raise ValueError("expected LoginModule required option=value …;")
    body = tokens[2:-1]
    if (";", True) in body:
        raise ValueError("exactly one login module is expected")
    options: dict[str, str] = {}
    for at in range(0, len(body), 3):
        triple = body[at : at + 3]
        if len(triple) < 3 or triple[1] != ("=", True) or triple[0][1] or triple[2][1]:
            raise ValueError(f"option {at // 3 + 1} is not name=value")
        options[triple[0][0]] = triple[2][0]
    return JaasEntry(tokens[0][0], options)


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Words, and signs marked with True."""
    found, position, end = [], 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"a quote is not closed near character {position + 1}")
        double, single, word, sign = match.groups()
        quoted = double if double is not None else single
        if quoted is not None:
            found.append((_ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[1]), quoted), False))
        else:
            found.append((sign or word, sign is not None))
        position = match.end()
    return found
