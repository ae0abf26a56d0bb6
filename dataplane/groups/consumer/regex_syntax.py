"""Reading a regular expression of RE2's syntax, for topic names.

A topic's name is made of ASCII letters, digits, `.`, `_` and `-`, so every class of characters,
also Unicode's, is here the set of those 65 that are in it. Flags that cannot matter for such names,
or for whether a whole name matches, are accepted (`m`, `s`, `U`, non-greedy repetition, names of
groups). What needs backtracking is not in the syntax: backreferences, looking ahead or behind.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Final, NamedTuple

NAME_CHARACTERS: Final = frozenset(string.ascii_letters + string.digits + "._-")
WORD: Final = frozenset(string.ascii_letters + string.digits + "_")
_DIGITS: Final = frozenset(string.digits)
_LETTERS: Final = frozenset(string.ascii_letters)

REPEAT_MAX: Final = 1000
"""As RE2: `a{1001}` is refused."""
NESTING_MAX: Final = 100
"""Groups within groups; RE2 allows 1,000."""


class InvalidRegexError(ValueError):
    """The text is no regular expression that is supported; the message is for its author."""


class Characters(NamedTuple):
    """One character of a set."""

    members: frozenset[str]


class Sequence(NamedTuple):
    parts: list[Node]


class Either(NamedTuple):
    choices: list[Node]


class Repeat(NamedTuple):
    """`most` None: without end."""

    part: Node
    least: int
    most: int | None


class At(NamedTuple):
    """A place between characters: `^`, `$`, `b` (word boundary) or `B` (none)."""

    place: str


Node = Characters | Sequence | Either | Repeat | At

_PERL: Final = {
    "d": _DIGITS,
    "D": NAME_CHARACTERS - _DIGITS,
    "s": frozenset[str](),
    "S": NAME_CHARACTERS,
    "w": WORD,
    "W": NAME_CHARACTERS - WORD,
}
_POSIX: Final = {
    "alnum": _LETTERS | _DIGITS,
    "alpha": _LETTERS,
    "ascii": NAME_CHARACTERS,
    "blank": frozenset[str](),
    "cntrl": frozenset[str](),
    "digit": _DIGITS,
    "graph": NAME_CHARACTERS,
    "lower": frozenset(string.ascii_lowercase),
    "print": NAME_CHARACTERS,
    "punct": frozenset("._-"),
    "space": frozenset[str](),
    "upper": frozenset(string.ascii_uppercase),
    "word": WORD,
    "xdigit": frozenset(string.hexdigits),
}
_CATEGORY: Final = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
_CONTROLS: Final = {"a": "\a", "f": "\f", "t": "\t", "n": "\n", "r": "\r", "v": "\v"}
_PLACES: Final = {"A": "^", "z": "$", "b": "b", "B": "B"}


def _unicode_class(name: str) -> frozenset[str]:
    """A general category or a script; of scripts only Latin and Common have names' characters."""
    if name == "Any":
        return NAME_CHARACTERS
    if _CATEGORY.fullmatch(name):
        return frozenset(c for c in NAME_CHARACTERS if unicodedata.category(c).startswith(name))
    if name == "Latin":
        return _LETTERS
    if name == "Common":
        return NAME_CHARACTERS - _LETTERS
    if name.replace("_", "").isalpha() and name[0].isupper() and len(name) > 2:
        return frozenset()
    raise InvalidRegexError(f"invalid character class range: \\p{{{name}}}")


def _folded(members: frozenset[str]) -> frozenset[str]:
    """With every character's other cases; the sign for Kelvin is a "k" too."""
    folded = {c.casefold() for c in members}
    return members | folded | {c.upper() for c in folded}


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ignores_case = False
        self._depth = 0

    def parse(self) -> Node:
        found = self._either()
        if self._at < len(self._text):
            raise InvalidRegexError("unexpected ): it closes nothing")
        return found

    # the text

    def _peek(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._text[place] if place < len(self._text) else ""

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise InvalidRegexError("the expression ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _accept(self, expected: str) -> bool:
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def _until(self, end: str, what: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise InvalidRegexError(f"missing {end} after {what}")
        found = self._text[self._at : stop]
        self._at = stop + len(end)
        return found

    # expressions

    def _either(self) -> Node:
        """Alternatives up to the group's end; flags that are set within it end there too."""
        ignores_case = self._ignores_case
        choices = [self._sequence()]
        while self._accept("|"):
            choices.append(self._sequence())
        self._ignores_case = ignores_case
        return choices[0] if len(choices) == 1 else Either(choices)

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._peek() not in "|)":
            if self._accept("\\Q"):
                quoted = self._quoted()
                parts += [self._one(c) for c in quoted[:-1]]
                if quoted:
                    parts.append(self._repeated(self._one(quoted[-1])))
                continue
            part = self._atom()
            if part is not None:
                parts.append(self._repeated(part))
        return parts[0] if len(parts) == 1 else Sequence(parts)

    def _quoted(self) -> str:
        stop = self._text.find("\\E", self._at)
        end = len(self._text) if stop < 0 else stop
        found = self._text[self._at : end]
        self._at = end if stop < 0 else end + 2
        return found

    def _repeated(self, part: Node) -> Node:
        bounds = self._bounds()
        if bounds is None:
            return part
        self._accept("?")  # not greedy: which of the ways is taken does not matter
        if self._bounds() is not None:
            raise InvalidRegexError("invalid nested repetition operator")
        return Repeat(part, *bounds)

    def _bounds(self) -> tuple[int, int | None] | None:
        """How often, if a repetition stands here; `{` that begins none is itself."""
        if self._accept("*"):
            return 0, None
        if self._accept("+"):
            return 1, None
        if self._accept("?"):
            return 0, 1
        stop = self._text.find("}", self._at)
        if self._peek() != "{" or stop < 0:
            return None
        least, comma, most = self._text[self._at + 1 : stop].partition(",")
        if not _is_number(least) or (most and not _is_number(most)):
            return None
        self._at = stop + 1
        bounds = int(least), int(most) if most else (None if comma else int(least))
        if bounds[0] > REPEAT_MAX or (bounds[1] is not None and bounds[1] > REPEAT_MAX):
            raise InvalidRegexError(f"invalid repeat count: more than {REPEAT_MAX}")
        if bounds[1] is not None and bounds[1] < bounds[0]:
            raise InvalidRegexError("invalid repeat count: the second is less than the first")
        return bounds

    def _atom(self) -> Node | None:
        """None for flags, which match nothing."""
        taken = self._take()
        if taken == "(":
            return self._group()
        if taken == "[":
            return Characters(self._class())
        if taken == ".":
            return Characters(NAME_CHARACTERS)
        if taken in "^$":
            return At(taken)
        if taken in "*+?":
            raise InvalidRegexError(f"missing argument to repetition operator: {taken}")
        return self._escape() if taken == "\\" else self._one(taken)

    def _escape(self) -> Node:
        place = _PLACES.get(self._peek())
        if place is not None:
            self._at += 1
            return At(place)
        if self._accept("C"):
            return Characters(NAME_CHARACTERS)
        members = self._escaped_class()
        return self._one(self._escaped()) if members is None else Characters(members)

    def _one(self, character: str) -> Node:
        members = frozenset(character)
        return Characters((_folded(members) if self._ignores_case else members) & NAME_CHARACTERS)

    def _group(self) -> Node | None:
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise InvalidRegexError(f"groups are nested more than {NESTING_MAX} deep")
        ignored_case = self._ignores_case
        if self._accept("?"):
            named = self._accept("P<") or (self._peek(1) not in "=!" and self._accept("<"))
            if named:
                name = self._until(">", "a group's name")
                if not name.isidentifier():
                    raise InvalidRegexError("invalid named capture")
            elif not self._flags():
                self._depth -= 1
                return None
        found = self._either()
        if not self._accept(")"):
            raise InvalidRegexError("missing )")
        self._ignores_case = ignored_case
        self._depth -= 1
        return found

    def _flags(self) -> bool:
        """After `(?`: whether a group follows; else the flags hold for the rest of this one."""
        sets = True
        while True:
            taken = self._take()
            if taken == "-" and sets:
                sets = False
            elif taken == "i":
                self._ignores_case = sets
            elif taken in ":)":
                return taken == ":"
            elif taken not in "msU":
                raise InvalidRegexError(f"invalid or unsupported Perl syntax: (?{taken}")

    # classes

    def _class(self) -> frozenset[str]:
        is_negated = self._accept("^")
        members: frozenset[str] = frozenset()
        is_first = True
        while is_first or self._peek() != "]":
            is_first = False
            members |= self._class_item()
        self._at += 1
        if self._ignores_case:
            members = _folded(members)
        return (NAME_CHARACTERS - members if is_negated else members) & NAME_CHARACTERS

    def _class_item(self) -> frozenset[str]:
        if self._accept("[:"):
            name = self._until(":]", "[:")
            known = _POSIX.get(name.removeprefix("^"))
            if known is None:
                raise InvalidRegexError(f"invalid character class range: [:{name}:]")
            return NAME_CHARACTERS - known if name.startswith("^") else known
        first = self._take()
        if first == "\\":
            members = self._escaped_class()
            if members is not None:
                return members
            first = self._escaped()
        if self._peek() != "-" or self._peek(1) in ("", "]"):
            return frozenset(first)
        self._at += 1
        last = self._take()
        if last == "\\":
            last = self._escaped()
        if last < first:
            raise InvalidRegexError(f"invalid character class range: {first}-{last}")
        return frozenset(c for c in NAME_CHARACTERS if first <= c <= last)

    def _escaped_class(self) -> frozenset[str] | None:
        """The class after a backslash, if it is one."""
        perl = _PERL.get(self._peek())
        if perl is not None:
            self._at += 1
            return perl
        if self._peek() not in ("p", "P"):
            return None
        is_negated = self._take() == "P"
        name = self._until("}", "\\p{") if self._accept("{") else self._take()
        if name.startswith("^"):
            is_negated = not is_negated
        found = _unicode_class(name.removeprefix("^"))
        return NAME_CHARACTERS - found if is_negated else found

    def _escaped(self) -> str:
        """The single character after a backslash."""
        taken = self._take()
        if taken in _CONTROLS:
            return _CONTROLS[taken]
        if taken == "x":
            digits = self._until("}", "\\x{") if self._accept("{") else self._take() + self._take()
            return _character(digits, 16)
        if taken == "0" or (taken in "1234567" and self._peek() in tuple("01234567")):
            digits = taken
            while len(digits) < 3 and self._peek() in tuple("01234567"):
                digits += self._take()
            return _character(digits, 8)
        if taken.isascii() and not taken.isalnum() and taken != "_":
            return taken
        raise InvalidRegexError(f"invalid escape sequence: \\{taken}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _character(digits: str, base: int) -> str:
    allowed = string.hexdigits if base == 16 else string.octdigits
    value = int(digits, base) if digits and all(c in allowed for c in digits) else -1
    if not 0 <= value <= 0x10FFFF:
        raise InvalidRegexError(f"invalid escape sequence: {digits}")
    return chr(value)


def parse(text: str) -> Node:
    """The expression as a tree. InvalidRegexError says what is wrong with it."""
    return _Parser(text).parse()
