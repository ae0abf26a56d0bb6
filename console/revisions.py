"""What a page says, as a tag: whoever has it already is told so, and how old it is by now.

A pass over a cluster, or a sample of its groups, makes everything a few seconds younger without
changing it. So the tag leaves out when things were looked at (`MOMENTS`) and keeps which of them
were looked at together: of each part the different moments are numbered as they first appear, its
own `as_of` the first. An answer "not modified" has the new moments by these numbers in a header,
and who keeps the page puts each where the old one of its number was: nothing is lost by it.

Where the sources of a page have revisions (`sources`) the tag has a second half, of those: while
they are the same the page is not even read. When they differ it is read, and may still say the same
by the first half. Both are sealed with the service's key: no tag is taken that was not given.
Where sources have moments of their own that move while nothing differs (when groups were sampled) a
third part of the tag says which moments of the page those were, so that the page can be told the
new ones unread.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.crypto import salted_hmac

from console.sources import Sources
from controlplane.common.etags import Precondition
from controlplane.common.hashing import canonical_json

AGES = "Penstock-As-Of"
"""`topics=2026-11-26T00:00:00Z, counts=…`: by part its moments, with a space between them, `-` for
one that stays what it was; a part without an age has none.
"""
MOMENTS = ("as_of", "sampled_at", "stale_after", "tried_at", "ts")
"""Fields that say when something was looked at, or how long that holds."""
MOMENTS_MAX = 16
"""Different ones of a part that a header names; any other is what the part says."""
TAG_CHARS = 32
SEPARATOR = "."
OWN, STAYS = "a", "-"
"""What a tag says of a moment: the part's own; one that is no source's. Else it is the letter."""
BETWEEN_PARTS = "~"
_MOMENT = re.compile(rf'"({"|".join(MOMENTS)})":"([0-9T:.Z+-]{{1,40}})"')
"""In canonical JSON, where a text that holds a quote is escaped, so that this is a field."""
_CURSOR = re.compile(r'"next":"[^"\\]*"')
"""Sealed anew each time; behind the same rows it leads to the same place."""
_OK = "ok"


def tag_of_page(
    asked: str, parts: Mapping[str, Mapping[str, Any]], sources: Sources | None = None
) -> str:
    """The tag, quoted, of what is compared weakly.

    `asked` is by whom and for what: two tenants, or two that see different parts of one, never
    have a tag in common. `sources` as they were before the page was read; a page of which a part
    is not as it should be has none, so that the next question reads it again.
    """
    texts, moments = [], []
    for name, part in parts.items():
        text, found = _without_moments(part)
        texts.append(f"\n{name} {text}")
        moments.append(found)
    halves = [_sealed("content", asked, "".join(texts))]
    if sources is not None and all(part["status"] == _OK for part in parts.values()):
        letters = _letters(moments, sources)
        if letters is not None:
            halves += [_of_sources(asked, sources, letters), *([letters] if letters else [])]
    return f'"{SEPARATOR.join(halves)}"'


def says_the_same(known: Precondition, tag: str) -> bool:
    """Whether one of the known tags is of a page that says what `tag` does."""
    return known.any_at_all or _halves(tag)[0] in {_halves(each)[0] for each in known.tags}


def known_by_sources(known: Precondition, asked: str, sources: Sources) -> tuple[str, str] | None:
    """The known tag, quoted, of a page that was made of just these, and the header of its ages by
    now; None: it has to be read.
    """
    for each in known.tags:
        _, *rest = _halves(each)
        letters = rest[1] if len(rest) == 2 else ""
        if rest and rest[0] == _of_sources(asked, sources, letters):
            return each.removeprefix("W/"), _ages_unread(sources, letters)
    return None


def ages(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The header of what was read."""
    return ages_of((name, " ".join(_without_moments(part)[1])) for name, part in parts.items())


def ages_of(moments: Iterable[tuple[str, str | None]]) -> str:
    return ", ".join(f"{name}={said or ''}" for name, said in moments)


def _ages_unread(sources: Sources, letters: str) -> str:
    """The header of what was not read: of each part its own age, which is the first of its moments,
    and of the others those that have moved.
    """
    of_parts = letters.split(BETWEEN_PARTS) if letters else [OWN] * len(sources.as_of)
    found = []
    for (name, own), of_part in zip(sources.as_of.items(), of_parts, strict=True):
        now = {OWN: own or STAYS, STAYS: STAYS, **sources.moving}
        found.append((name, " ".join(now[letter] for letter in of_part)))
    return ages_of(found)


def _letters(moments: list[list[str]], sources: Sources) -> str | None:
    """Which moments of each part are the sources'; empty: none but the parts' own.

    None: what is read does not tell them from each other, or not all have a number.
    """
    if not sources.moving:
        return ""
    by_moment = {moment: letter for letter, moment in sources.moving.items()}
    of_parts = []
    for first, *others in moments:
        is_told = first not in by_moment and len(by_moment) == len(sources.moving)
        if not is_told or len(others) + 1 >= MOMENTS_MAX:
            return None
        of_parts.append(OWN + "".join(by_moment.get(each, STAYS) for each in others))
    return BETWEEN_PARTS.join(of_parts)


def _without_moments(part: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The part's text with the numbers of its moments in their places, and the moments.

    Fields are in the order of their names, so `as_of` of the part comes before its data.
    """
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        moment = found[2]
        if moment not in numbers and len(numbers) == MOMENTS_MAX:
            return found[0]
        return f'"{found[1]}":@{numbers.setdefault(moment, len(numbers))}'

    text = _CURSOR.sub('"next":@', canonical_json(part))
    return _MOMENT.sub(numbered, text), list(numbers)


def _of_sources(asked: str, sources: Sources, letters: str) -> str:
    shape = [letters, sorted(sources.moving), list(sources.as_of)]
    return _sealed("sources", asked, canonical_json([sources.revisions, shape]))


def _sealed(what: str, asked: str, text: str) -> str:
    made = salted_hmac(f"console.revisions.{what}", f"{asked}\n{text}", algorithm="sha256")
    return made.hexdigest()[:TAG_CHARS]


def _halves(tag: str) -> list[str]:
    return tag.removeprefix("W/").strip('"').split(SEPARATOR)
