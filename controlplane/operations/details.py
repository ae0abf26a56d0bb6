"""What a step says of itself and of what remains: sentences of `sentences.details`. Pure.

A detail is its English, which knows the parts that it is made of: whoever keeps it keeps both.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from controlplane.common.sentences import Param, Phrases, rendered
from controlplane.operations.sentences.details import DETAILS, LEAD, TAIL, WHOLE

BETWEEN, BEFORE_TAIL = "; ", ", "
AS_IT_CAME = "as-it-came"


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence with what is put into it."""

    code: str
    params: Mapping[str, Param]
    text: str

    def as_row(self) -> dict[str, Any]:
        """As it is kept, and as REST says it."""
        return {"code": self.code, "params": dict(self.params), "text": self.text}


class Detail(str):
    """The English of its parts, one after the other."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, parts: Iterable[Part]) -> Self:
        held = tuple(parts)
        made = super().__new__(cls, _joined(held))
        made.parts = held
        return made

    def __getnewargs__(self) -> tuple[tuple[Part, ...]]:  # type: ignore[override] # not the text
        """For copies."""
        return (self.parts,)


def _joined(parts: tuple[Part, ...]) -> str:
    """A space follows a colon, of what leads in another part, and the full stop of a whole one."""
    text, before = "", ""
    for part in parts:
        between = " " if before.startswith((LEAD, *WHOLE)) else BETWEEN
        if part.code.startswith(TAIL):
            between = BEFORE_TAIL
        text += between + part.text if text else part.text
        before = part.code
    return text


def detail_of(code: str, **params: Param) -> Detail:
    """The sentence of this code.

    Raises:
        KeyError: there is none.
        SentenceError: it takes other parameters.
    """
    return phrased(code, params, {})


def phrased(code: str, params: Mapping[str, Param], phrases: Phrases) -> Detail:
    """As `detail_of`; `phrases` say what codes in its parameters are called."""
    return Detail([Part(code, params, rendered(DETAILS[code], params, phrases))])


def together(*details: str) -> Detail:
    """One after the other; those without a text are left out, a free text stays as it came."""
    return Detail(
        part for detail in details if detail for part in _as_detail(detail).parts if part.text
    )


def _as_detail(text: str) -> Detail:
    return text if isinstance(text, Detail) else detail_of(AS_IT_CAME, said=text)


def rows_of(detail: str) -> list[dict[str, Any]]:
    """The parts as rows, to keep; none of a text without a code."""
    return [part.as_row() for part in detail.parts] if isinstance(detail, Detail) else []


def rows_beside(
    texts: Sequence[str], rows: Iterable[list[dict[str, Any]]]
) -> list[list[dict[str, Any]]]:
    """The parts of each of the texts; none of those that a version wrote which keeps no parts."""
    kept = [*rows, *([] for _ in texts)]
    return [own if detail_from(own) == text else [] for text, own in zip(texts, kept, strict=False)]


def detail_from(rows: Iterable[Mapping[str, Any]]) -> Detail:
    """The detail that was kept as `rows_of`."""
    return Detail(Part(row["code"], row["params"], row["text"]) for row in rows)


def broker_params(brokers: Collection[int]) -> dict[str, Param]:
    """As sentences take them that name brokers: how many, and which."""
    return {"count": len(brokers), "brokers": ", ".join(map(str, sorted(brokers)))}


def name_params(names: Iterable[str], most: int) -> dict[str, Param]:
    """As sentences take them that name things: the first `most`, and how many there are more."""
    found = sorted(names)
    return {"names": ", ".join(found[:most]), "more": max(0, len(found) - most)}
