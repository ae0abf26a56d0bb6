"""Entity tags of resources, and the preconditions that name them (RFC 9110, 8.8.3 and 13.1).

A tag is a hash of what is shown, so that it needs no column: whoever changes a row by whatever way
changes it. Where writes are conditional it leaves out what is only observed (a last login, what an
agent reports): a change of that is nobody's decision, and must refuse nobody's.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.common.hashing import content_hash
from controlplane.common.problems import Problem

FIELD = "etag"
"""Of a resource that can be changed: its tag, quoted as the headers have it."""
TAGS_MAX = 20
"""In one header."""
_HEX_CHARS = 32
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_LIST = re.compile(rf"{_TAG}(?:[ \t]*,[ \t]*{_TAG}){{0,{TAGS_MAX - 1}}}")


class PreconditionFailed(Problem):
    status, code, title = 412, "precondition-failed", "It was changed since you read it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """Tags that a header lists; `any_at_all` for `*`."""

    tags: tuple[str, ...] = ()
    any_at_all: bool = False

    def has(self, tag: str) -> bool:
        """By the strong comparison, as `If-Match` asks for: a weak tag is like no other."""
        return self.any_at_all or tag in self.tags

    def has_weakly(self, tag: str) -> bool:
        """By the weak comparison, as `If-None-Match` asks for."""
        return self.any_at_all or tag in {each.removeprefix("W/") for each in self.tags}


def tag_of(shown: Mapping[str, Any], without: Collection[str] = ()) -> str:
    """The strong tag of a representation, quoted."""
    kept = {name: value for name, value in shown.items() if name not in {FIELD, *without}}
    return f'"{content_hash(kept)[:_HEX_CHARS]}"'


def with_tag(shown: dict[str, Any], *, observed: Collection[str] = ()) -> dict[str, Any]:
    """What is shown of a resource that can be changed, and its tag, which leaves `observed` out."""
    return {**shown, FIELD: tag_of(shown, observed)}


def precondition(name: str, given: str | None) -> Precondition | None:
    """What the header `name` asks for; None without one.

    Raises Problem: it is no list of tags, or too long a one.
    """
    if given is None:
        return None
    text = given.strip(" \t")
    if text == "*":
        return Precondition(any_at_all=True)
    if not _LIST.fullmatch(text):
        raise Problem(
            f'{name} is * or a list of up to {TAGS_MAX} entity tags in quotes, as "abc".',
            code="malformed",
        )
    return Precondition(tags=tuple(re.findall(_TAG, text)))
