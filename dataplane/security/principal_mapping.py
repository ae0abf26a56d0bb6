r"""`ssl.principal.mapping.rules`: what a certificate's name becomes (KIP-371).

Rules are `DEFAULT`, the name as it is, and `RULE:pattern/replacement/` with `L` or `U` behind it
for lower or upper case; the first one that matches the whole name counts. Commas separate them,
and a slash within one is written `\/`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from dataplane.security.linear_regex import LinearRegex, RegexError, Replacement

if TYPE_CHECKING:
    from collections.abc import Callable

NAME_CHARACTERS_MAX: Final = 2_048
"""Of a certificate's subject; ACLs would not name a longer one."""

# The operator's text, and no stranger's: this one may go back.
_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)"
    r"|RULE:(?P<pattern>(?:\\.|[^\\/])*)/(?P<replacement>(?:\\.|[^\\/])*)/(?P<case>[LU]?))"
    r"\s*(?:[,\n]|$)",
    re.DOTALL,
)
_CASES: Final[dict[str, Callable[[str], str]]] = {"L": str.lower, "U": str.upper, "": str}


class _Rule(NamedTuple):
    """`regex` None is DEFAULT."""

    regex: LinearRegex | None
    replacement: Replacement | None = None
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.regex is None or self.replacement is None:
            return name
        if not self.regex.matches(name):
            return None
        return _CASES[self.case](self.regex.replaced(name, self.replacement))


class NoMappingError(ValueError):
    """No rule makes a principal of this name."""


class PrincipalMapping:
    """The rules of one listener. ValueError names the one that is wrong."""

    def __init__(self, rules: str = "DEFAULT") -> None:
        self._rules: list[_Rule] = []
        text = rules.strip()
        at = 0
        while at < len(text):
            found = _RULE.match(text, at)
            if found is None:
                raise ValueError(f"invalid rule: {text[at:]}")
            at = found.end()
            self._rules.append(_rule(found))
        if not self._rules:
            raise ValueError("at least one rule is needed")

    def name(self, subject: str) -> str:
        """The principal's name for a certificate's subject.

        NoMappingError: no rule matches, or the name is longer or more tangled than any honest one.
        """
        if len(subject) > NAME_CHARACTERS_MAX:
            raise NoMappingError(f"the subject has more than {NAME_CHARACTERS_MAX} characters")
        try:
            for rule in self._rules:
                name = rule.apply(subject)
                if name is not None:
                    break
            else:
                raise NoMappingError("no rule of ssl.principal.mapping.rules applies")
        except RegexError as error:
            raise NoMappingError(str(error)) from error
        if not name:
            raise NoMappingError("the subject stands for an empty name")
        return name


def _rule(found: re.Match[str]) -> _Rule:
    if found["default"]:
        return _Rule(None)
    try:
        regex = LinearRegex(found["pattern"])
        return _Rule(regex, Replacement(found["replacement"], regex.groups), found["case"])
    except RegexError as error:
        raise ValueError(f"invalid rule {found[0].strip()}: {error}") from error
