"""What a page says, as a tag: whoever has it already is told so, and how old it is by now.

A pass over a cluster makes everything a few seconds younger without changing it. So the tag leaves
out how old parts are: text that is the part's own `as_of`, in the part and anywhere in its data. An
answer "not modified" has the new ages in a header, and who keeps the page puts them where the old
ones were.

Where the sources of a page have revisions (`sources`) the tag has a second half, of those: while
they are the same the page is not even read. When they differ it is read, and may still say the same
by the first half. Both are sealed with the service's key: no tag is taken that was not given.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.crypto import salted_hmac

from console.sources import Sources
from controlplane.common.etags import Precondition
from controlplane.common.hashing import canonical_json

AGES = "Penstock-As-Of"
"""`topics=2026-11-26T00:00:00Z, counts=…`: by part; one without an age has an empty one."""
TAG_CHARS = 32
SEPARATOR = "."
_AGE = '"@"'
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
        text = canonical_json(part)
        if part["as_of"] is not None:
            text = text.replace(canonical_json(part["as_of"]), _AGE)
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
    return ages_of((name, part["as_of"]) for name, part in parts.items())


def ages_of(moments: Iterable[tuple[str, str | None]]) -> str:
    return ", ".join(f"{name}={as_of or ''}" for name, as_of in moments)


def _of_sources(asked: str, sources: Sources) -> str:
    return _sealed("sources", asked, canonical_json(sources.revisions))


def _sealed(what: str, asked: str, text: str) -> str:
    made = salted_hmac(f"console.revisions.{what}", f"{asked}\n{text}", algorithm="sha256")
    return made.hexdigest()[:TAG_CHARS]


def _halves(tag: str) -> list[str]:
    return tag.removeprefix("W/").strip('"').split(SEPARATOR)
