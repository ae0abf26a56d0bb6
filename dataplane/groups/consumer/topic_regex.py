"""Which topics a regular expression means: whole names, in time linear in their length.

The expression becomes a machine of states that are all followed at once (Thompson), so nothing is
tried again. What is met is remembered while one list of names is gone through, so that usually a
character costs one look-up. Size and work are bounded: a tenant's expression must not keep the
broker from its other work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataplane.groups.consumer.regex_syntax import (
    WORD,
    At,
    Characters,
    Either,
    InvalidRegexError,
    Node,
    Repeat,
    Sequence,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

TEXT_MAX: Final = 32_767
"""Characters of an expression."""
STATES_MAX: Final = 20_000
"""Steps in building its machine: `(a{1000}){1000}` is a short text."""
WORK_MAX: Final = 500_000
"""States looked at for one list of names: less than half a second."""

_MATCHED: Final = 0
_CHARACTER, _FORK, _PLACE = range(3)
_NAME_START, _WORD, _OTHER = "start", "word", "other"


class TopicRegex:
    """A regular expression of RE2's syntax. InvalidRegexError when it is none, or too large."""

    def __init__(self, text: str) -> None:
        if len(text) > TEXT_MAX:
            raise InvalidRegexError(f"the expression has more than {TEXT_MAX} characters")
        # By state: its kind, what it asks for, where it leads. State 0 is the end.
        self._kinds = [_CHARACTER]
        self._asks: list[frozenset[str]] = [frozenset()]
        self._leads: list[tuple[int, ...]] = [()]
        self._steps = 0
        self._start = self._build(parse(text), _MATCHED)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that match as a whole.

        InvalidRegexError when finding out takes more than `WORK_MAX`.
        """
        run = _Run(self._kinds, self._asks, self._leads, self._start)
        return frozenset(name for name in names if run.matches(name))

    def _add(self, kind: int, asks: frozenset[str], *leads: int) -> int:
        self._kinds.append(kind)
        self._asks.append(asks)
        self._leads.append(leads)
        return len(self._kinds) - 1

    def _build(self, node: Node, then: int) -> int:
        """States that match `node` and go on at `then`; where they begin."""
        self._steps += 1  # counts what adds no state too: `(((){1000}){1000}){1000}`
        if self._steps > STATES_MAX:
            raise InvalidRegexError("the expression is too large")
        match node:
            case Characters():
                return self._add(_CHARACTER, node.members, then)
            case At():
                return self._add(_PLACE, frozenset(node.place), then)
            case Sequence():
                for part in reversed(node.parts):
                    then = self._build(part, then)
                return then
            case Either():
                choices = [self._build(choice, then) for choice in node.choices]
                return self._add(_FORK, frozenset(), *choices)
            case Repeat():
                return self._build_repeat(node, then)

    def _build_repeat(self, node: Repeat, then: int) -> int:
        if node.most is None:
            loop = self._add(_FORK, frozenset(), then)
            self._leads[loop] = (self._build(node.part, loop), then)
            then = loop
        else:
            end = then
            for _ in range(node.most - node.least):
                then = self._add(_FORK, frozenset(), self._build(node.part, then), end)
        for _ in range(node.least):
            then = self._build(node.part, then)
        return then


class _Situation:
    """The states reached after some beginning of a name, and the kind of its last character.

    `by_character` is where each next character leads, `ends` whether a name may end here; both are
    found out when first needed.
    """

    __slots__ = ("before", "by_character", "ends", "states")

    def __init__(self, states: frozenset[int], before: str) -> None:
        self.states = states
        self.before = before
        self.by_character: dict[str, _Situation] = {}
        self.ends: bool | None = None


class _Run:
    """One list of names gone through."""

    def __init__(
        self, kinds: list[int], asks: list[frozenset[str]], leads: list[tuple[int, ...]], start: int
    ) -> None:
        self._kinds, self._asks, self._leads = kinds, asks, leads
        self._left = WORK_MAX
        self._situations: dict[tuple[frozenset[int], str], _Situation] = {}
        self._first = self._situation(frozenset({start}), _NAME_START)

    def _situation(self, states: frozenset[int], before: str) -> _Situation:
        found = self._situations.get((states, before))
        if found is None:
            found = self._situations[states, before] = _Situation(states, before)
        return found

    def matches(self, name: str) -> bool:
        here = self._first
        for character in name:
            following = here.by_character.get(character)
            if following is None:
                following = here.by_character[character] = self._step(here, character)
            here = following
        if here.ends is None:
            here.ends = _MATCHED in self._reached(here, "")
        return here.ends

    def _step(self, here: _Situation, character: str) -> _Situation:
        states = frozenset(
            self._leads[state][0]
            for state in self._reached(here, character)
            if self._kinds[state] == _CHARACTER and character in self._asks[state]
        )
        return self._situation(states, _WORD if character in WORD else _OTHER)

    def _reached(self, here: _Situation, following: str) -> set[int]:
        """What is reached without reading; `following` is the next character, "" at the end."""
        is_boundary = (here.before == _WORD) != (following in WORD)
        holding = {"b" if is_boundary else "B"}
        if here.before == _NAME_START:
            holding.add("^")
        if not following:
            holding.add("$")
        seen: set[int] = set()
        unseen = list(here.states)
        while unseen:
            state = unseen.pop()
            if state in seen:
                continue
            seen.add(state)
            kind = self._kinds[state]
            if kind == _FORK or (kind == _PLACE and self._asks[state] & holding):
                unseen += self._leads[state]
        self._left -= len(seen)
        if self._left < 0:
            raise InvalidRegexError("the expression takes too much work to match")
        return seen
