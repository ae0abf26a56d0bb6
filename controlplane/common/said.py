"""A sentence that was said: its code, what was put into it, and the English of both. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.common.sentences import Param, rendered
from controlplane.common.words import storable


@dataclass(frozen=True, slots=True)
class Said:
    """`code` is of the sentence; `about` is what it says, in whichever sentence."""

    code: str
    params: Mapping[str, Param]
    text: str

    @property
    def about(self) -> str:
        """What stands before the code's first `/`."""
        return self.code.partition("/")[0]

    def as_row(self) -> dict[str, Any]:
        """{code, params, text}: a part of several sentences, as it is kept and as REST says it."""
        return {"code": self.code, "params": dict(self.params), "text": self.text}

    def beside(self) -> dict[str, Any]:
        """{code, text, text_code, params}: as plans say a warning."""
        named = {"text": self.text, "text_code": self.code, "params": dict(self.params)}
        return {"code": self.about, **named}


def said_of(table: Mapping[str, str], sentence: str, **params: Param) -> Said:
    """The sentence of this code.

    Raises:
        KeyError: the table has none.
        SentenceError: it takes other parameters.
    """
    return Said(sentence, params, rendered(table[sentence], params))


def named_by(name: str, said: Said | None) -> dict[str, Any]:
    """{<name>, <name>_code, <name>_params} as REST says it; null where nothing is said."""
    if said is None:
        return {name: None, f"{name}_code": None, f"{name}_params": {}}
    return {name: said.text, f"{name}_code": said.code, f"{name}_params": dict(said.params)}


def joined(parts: Iterable[Said]) -> str:
    """The English of them, one after the other."""
    return _joined(part.text for part in parts)


def kept(parts: Iterable[Said], most: int) -> tuple[str, list[dict[str, Any]]]:
    """The text, of `most` characters, and its parts as a row keeps them: none of a text that had
    to be cut.
    """
    rows = [part.as_row() for part in parts]
    text = storable(_joined(row["text"] for row in rows))
    return text[:most], rows if len(text) <= most else []


def parts_of(text: str, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The parts that were kept beside a text, as REST says them.

    Those that say something else are of before: an earlier version, which a release replaces
    meanwhile, writes the text alone.
    """
    return rows if _joined(row["text"] for row in rows) == text else []


def _joined(texts: Iterable[str]) -> str:
    return " ".join(texts)
