"""Regular expressions with groups, matched in time linear in the text.

For texts that strangers choose, such as the names in their certificates: all states are followed
at once (Thompson, Pike), nothing is tried again. What is found is what Java's `Pattern` finds: of
several matches the one that the expression's order prefers. Taken is what needs no memory of the
text: characters, classes, groups, `|`, `^`, `$`, greedy and lazy quantifiers. References back,
looking around, flags and possessive quantifiers are refused.
"""

from __future__ import annotations

import enum
import functools
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Test = Callable[[str], bool]
    Spans = tuple[int, ...]  # two places a group, -1 where it took no part

STATES_MAX: Final = 2_000
STEPS_MAX: Final = 500_000
"""States looked at for one text: less than half a second."""
_DEPTH_MAX: Final = 50
_UNLIMITED: Final = -1

_LINE_ENDS: Final = frozenset("\n\r\u0085\u2028\u2029")
_DIGITS: Final = frozenset("0123456789")
_WORDS: Final = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPACES: Final = frozenset(" \t\n\x0b\f\r")
_SETS: Final = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class RegexError(ValueError):
    """The expression is malformed or asks for what is not taken, or a text for too many steps."""


class _Kind(enum.Enum):
    CHARACTER = enum.auto()
    SPLIT = enum.auto()
    SAVE = enum.auto()
    START = enum.auto()
    END = enum.auto()
    MATCH = enum.auto()


class _State(NamedTuple):
    """`leads`: where it goes, the preferred one first. `place`: what a SAVE fills."""

    kind: _Kind
    leads: tuple[int, ...] = ()
    test: Test | None = None
    place: int = 0


class LinearRegex:
    """A compiled expression. Raises RegexError."""

    def __init__(self, text: str) -> None:
        self._states: list[_State] = [_State(_Kind.MATCH)]
        builder = _Builder(text, self._states)
        self._start = builder.build()
        self.groups = builder.groups
        """How many groups have a number; 0 is the whole."""

    def matches(self, text: str) -> bool:
        """Whether the expression matches all of `text`. RegexError: too many steps."""
        return _Run(self._states, self._start, 2).find(text, 0, whole=True) is not None

    def replaced(self, text: str, replacement: Replacement) -> str:
        """`text` with `replacement` for every match, the first one from the left first.

        RegexError: too many steps.
        """
        run = _Run(self._states, self._start, 2 * (self.groups + 1))
        parts: list[str] = []
        at = copied = 0
        while at <= len(text) and (spans := run.find(text, at)) is not None:
            parts += [text[copied : spans[0]], replacement.filled(text, spans)]
            copied = spans[1]
            at = copied + (spans[0] == spans[1])
        return "".join([*parts, text[copied:]])


class Replacement:
    r"""`$1` stands for a group, `\x` for x. Of `$12` one digit counts if there is no group 12.

    A number that no group has stands for itself, as in Kafka's mapping rules. ValueError for a `$`
    without a number and a backslash without anything behind it.
    """

    def __init__(self, text: str, groups: int) -> None:
        self._parts: list[str | int] = []
        at = 0
        while at < len(text):
            char, at = text[at], at + 1
            if char not in "\\$":
                self._parts.append(char)
                continue
            if at == len(text) or (char == "$" and text[at] not in _DIGITS):
                raise RegexError(f"what follows {char} at {at} of {text!r} is missing")
            if char == "\\":
                self._parts.append(text[at])
                at += 1
                continue
            number, at = int(text[at]), at + 1
            if number > groups:
                self._parts.append(f"${number}")
                continue
            while at < len(text) and text[at] in _DIGITS and 10 * number + int(text[at]) <= groups:
                number, at = 10 * number + int(text[at]), at + 1
            self._parts.append(number)

    def filled(self, text: str, spans: Spans) -> str:
        return "".join(
            part
            if isinstance(part, str)
            else text[max(spans[2 * part], 0) : max(spans[2 * part + 1], 0)]
            for part in self._parts
        )


class _Run:
    """Follows all states through a text; the steps of all its searches are counted together."""

    def __init__(self, states: Sequence[_State], start: int, places: int) -> None:
        self._states = states
        self._start = start
        self._nowhere: Spans = (-1,) * places
        self._steps = 0

    def find(self, text: str, at: int, *, whole: bool = False) -> Spans | None:
        """Where the first match at or behind `at` is; `whole`: one from `at` to the end."""
        found: Spans | None = None
        threads: dict[int, Spans] = {}
        passed: set[int] = set()
        begin, end = at, len(text)
        for here in range(at, end + 1):
            if found is None and (here == begin or not whole):
                self._add(threads, passed, (self._start, self._nowhere), here, end)
            following: dict[int, Spans] = {}
            passed = set()
            for index, spans in threads.items():
                state = self._states[index]
                if state.kind is _Kind.MATCH:
                    if not whole or here == end:
                        found = spans
                        break  # those behind it are liked less
                elif here < end and state.test is not None and state.test(text[here]):
                    self._add(following, passed, (state.leads[0], spans), here + 1, end)
            threads = following
            if not threads and (found is not None or whole):
                break
        return found

    def _add(
        self,
        threads: dict[int, Spans],
        passed: set[int],
        first: tuple[int, Spans],
        here: int,
        end: int,
    ) -> None:
        """Follow what needs no character, in the order of preference; each state once a place."""
        waiting = [first]
        while waiting:
            number, marks = waiting.pop()
            if number in passed:
                continue
            passed.add(number)
            self._steps += 1
            if self._steps > STEPS_MAX:
                raise RegexError("the text takes too many steps")
            state = self._states[number]
            if state.kind in (_Kind.CHARACTER, _Kind.MATCH):
                threads[number] = marks
                continue
            if state.kind is _Kind.SAVE and state.place < len(marks):
                marks = (*marks[: state.place], here, *marks[state.place + 1 :])
            elif (state.kind is _Kind.START and here) or (state.kind is _Kind.END and here < end):
                continue
            waiting += [(lead, marks) for lead in reversed(state.leads)]


class _Builder:
    """From the text, by recursive descent, to states; each part is built before what it leads to.

    A part is a function that makes its states, leading to a given one, and answers its first one.
    """

    def __init__(self, text: str, states: list[_State]) -> None:
        self._text = text
        self._at = 0
        self._states = states
        self._depth = 0
        self.groups = 0

    def build(self) -> int:
        part = self._either()
        if self._at < len(self._text):
            raise self._wrong("a ) closes nothing")
        return self._saved(part, 0)(0)

    # -- states

    def _state(self, state: _State) -> int:
        if len(self._states) >= STATES_MAX:
            raise RegexError(f"the expression has more than {STATES_MAX} states")
        self._states.append(state)
        return len(self._states) - 1

    def _saved(self, part: Callable[[int], int], group: int) -> Callable[[int], int]:
        def make(to: int) -> int:
            end = self._state(_State(_Kind.SAVE, (to,), place=2 * group + 1))
            return self._state(_State(_Kind.SAVE, (part(end),), place=2 * group))

        return make

    def _repeated(
        self, part: Callable[[int], int], least: int, most: int, *, lazy: bool
    ) -> Callable[[int], int]:
        def order(more: int, on: int) -> tuple[int, ...]:
            return (on, more) if lazy else (more, on)

        def make(to: int) -> int:
            first = to
            if most == _UNLIMITED:
                first = self._state(_State(_Kind.SPLIT))
                self._states[first] = _State(_Kind.SPLIT, order(part(first), to))
            for _ in range(max(most - least, 0)):
                first = self._state(_State(_Kind.SPLIT, order(part(first), to)))
            for _ in range(least):
                first = part(first)
            return first

        return make

    # -- text

    def _wrong(self, reason: str) -> RegexError:
        return RegexError(f"{reason}, at {self._at} of {self._text!r}")

    def _next(self) -> str:
        if self._at == len(self._text):
            raise self._wrong("the expression ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _takes(self, wanted: str) -> bool:
        if not self._text.startswith(wanted, self._at):
            return False
        self._at += len(wanted)
        return True

    def _either(self) -> Callable[[int], int]:
        branches = [self._sequence()]
        while self._takes("|"):
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda to: self._state(_State(_Kind.SPLIT, tuple(each(to) for each in branches)))

    def _sequence(self) -> Callable[[int], int]:
        parts: list[Callable[[int], int]] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._quantified(self._atom()))

        def make(to: int) -> int:
            for part in reversed(parts):
                to = part(to)
            return to

        return make

    def _quantified(self, part: Callable[[int], int]) -> Callable[[int], int]:
        bounds = {"*": (0, _UNLIMITED), "+": (1, _UNLIMITED), "?": (0, 1)}
        sign = self._text[self._at : self._at + 1]
        if sign in bounds and sign:
            self._at += 1
            least, most = bounds[sign]
        elif self._takes("{"):
            least, most = self._counted()
        else:
            return part
        lazy = self._takes("?")
        if self._text[self._at : self._at + 1] in ("*", "+", "{", "?"):
            raise self._wrong("a quantifier follows another one")
        return self._repeated(part, least, most, lazy=lazy)

    def _counted(self) -> tuple[int, int]:
        inside, closed, _rest = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        is_number = all(part.isascii() and part.isdigit() for part in (low, high or low))
        if not closed or not is_number or len(inside) > 9:
            raise self._wrong("expected {n}, {n,} or {n,m}")
        self._at += len(inside) + 1
        least = int(low)
        most = int(high) if high else _UNLIMITED if comma else least
        if max(least, most) > STATES_MAX or -1 < most < least:
            raise self._wrong("a count is too large, or the second one is below the first")
        return least, most

    def _atom(self) -> Callable[[int], int]:
        char = self._next()
        if char == "(":
            return self._group()
        if char in "^$":
            kind = _Kind.START if char == "^" else _Kind.END
            return lambda to: self._state(_State(kind, (to,)))
        if char in "*+?{":
            raise self._wrong("a quantifier has nothing before it")
        if char == ".":
            return self._character(lambda each: each not in _LINE_ENDS)
        if char == "[":
            return self._character(self._class())
        if char == "\\":
            return self._character(self._escape())
        return self._character(frozenset(char).__contains__)

    def _character(self, test: Test) -> Callable[[int], int]:
        return lambda to: self._state(_State(_Kind.CHARACTER, (to,), test))

    def _group(self) -> Callable[[int], int]:
        number = 0
        if not self._takes("?:"):
            if self._takes("?"):
                raise self._wrong("only (…) and (?:…) are taken")
            self.groups += 1
            number = self.groups
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._wrong(f"groups are nested more than {_DEPTH_MAX} deep")
        part = self._either()
        if not self._takes(")"):
            raise self._wrong("a ( is not closed")
        self._depth -= 1
        return self._saved(part, number) if number else part

    def _escape(self) -> Test:
        char = self._next()
        known = _SETS.get(char.lower())
        if known is not None:
            found = known
            return found.__contains__ if char.islower() else lambda each: each not in found
        return frozenset(self._literal(char)).__contains__

    def _literal(self, char: str) -> str:
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char.isascii() and char.isalnum():
            raise self._wrong(f"\\{char} is not taken")
        return char

    def _class(self) -> Test:
        is_negated = self._takes("^")
        tests: list[Test] = []
        while not self._takes("]"):
            char = self._next()
            if char == "[" or (char == "&" and self._takes("&")):
                raise self._wrong("classes within classes are not taken")
            if char == "\\" and self._text[self._at : self._at + 1].lower() in tuple(_SETS):
                tests.append(self._escape())
                continue
            low = self._literal(self._next()) if char == "\\" else char
            high = low
            if self._text[self._at : self._at + 1] == "-" and not self._text.startswith(
                "-]", self._at
            ):
                self._at += 1
                high = self._next()
                if high == "[":
                    raise self._wrong("classes within classes are not taken")
                high = self._literal(self._next()) if high == "\\" else high
            if high < low:
                raise self._wrong("a range ends before it begins")
            tests.append(functools.partial(_is_between, low, high))
        if not tests:
            raise self._wrong("a class is empty")
        return lambda each: any(test(each) for test in tests) is not is_negated


def _is_between(low: str, high: str, each: str) -> bool:
    return low <= each <= high
