"""A sentence that was said: its code, what was put into it, and the English of both. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.common.sentences import Param, rendered


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
