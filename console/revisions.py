"""What a page says, as a tag: whoever has it already is told so, and how old it is by now.

A pass over a cluster, or a sample of its groups, makes everything a few seconds younger without
changing it. So the tag leaves out when things were looked at (`MOMENTS`) and keeps which of them
were looked at together: of each part the different moments are numbered as they first appear, its
own `as_of` the first. An answer "not modified" has the new moments by these numbers in a header,
and who keeps the page puts each where the old one of its number was: nothing is lost by it.

Where the sources of a page have revisions (`sources`) the tag has a second half, of those: while
they are the same the page is not even read. When they differ it is read, and may still say the same
by the first half. Both are sealed with the service's key: no tag is taken that was not given.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.crypto import salted_hmac

from console.sources import Sources
from controlplane.common.etags import Precondition
from controlplane.common.hashing import canonical_json

AGES = "Penstock-As-Of"
"""`topics=2026-11-26T00:00:00Z, counts=…`: by part its moments, with a space between them; one
without an age has none.
"""
MOMENTS = ("as_of", "sampled_at", "stale_after", "tried_at", "ts")
"""Fields that say when something was looked at, or how long that holds."""
MOMENTS_MAX = 16
"""Different ones of a part that a header names; any other is what the part says."""
TAG_CHARS = 32
SEPARATOR = "."
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
    texts = []
    for name, part in parts.items():
        text, _ = _without_moments(part)
        texts.append(f"\n{name} {text}")
    halves = [_sealed("content", asked, "".join(texts))]
    if sources is not None and all(part["status"] == _OK for part in parts.values()):
        halves.append(_of_sources(asked, sources))
    return f'"{SEPARATOR.join(halves)}"'


def says_the_same(known: Precondition, tag: str) -> bool:
    """Whether one of the known tags is of a page that says what `tag` does."""
    return known.any_at_all or _halves(tag)[0] in {_halves(each)[0] for each in known.tags}


def known_by_sources(known: Precondition, asked: str, sources: Sources) -> str | None:
    """The known tag, quoted, of a page that was made of just these; None: it has to be read."""
    wanted = _of_sources(asked, sources)
    for each in known.tags:
        halves = _halves(each)
        if len(halves) == 2 and halves[1] == wanted:
            return each.removeprefix("W/")
    return None


def ages(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """The header of what was read."""
    return ages_of((name, " ".join(_without_moments(part)[1])) for name, part in parts.items())


def ages_of(moments: Iterable[tuple[str, str | None]]) -> str:
    """The header of what was not: of each part its own age, which is the first of its moments."""
    return ", ".join(f"{name}={said or ''}" for name, said in moments)


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


def _of_sources(asked: str, sources: Sources) -> str:
    return _sealed("sources", asked, canonical_json(sources.revisions))


def _sealed(what: str, asked: str, text: str) -> str:
    made = salted_hmac(f"console.revisions.{what}", f"{asked}\n{text}", algorithm="sha256")
    return made.hexdigest()[:TAG_CHARS]


def _halves(tag: str) -> list[str]:
    return tag.removeprefix("W/").strip('"').split(SEPARATOR)
