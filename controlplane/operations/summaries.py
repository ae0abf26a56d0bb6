"""What a plan does: a sentence of `sentences.summaries` by its code, with its parameters. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from controlplane.common.sentences import Param, rendered
from controlplane.operations.sentences.summaries import SUMMARIES

TEXT, CODE, PARAMS = "summary", "summary_code", "summary_params"
"""Keys of `Plan.impact`, and of what REST says of operations."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A sentence with what is put into it."""

    code: str
    params: Mapping[str, Param]
    text: str

    def as_row(self) -> dict[str, Any]:
        """As it is kept in a plan's impact."""
        return {TEXT: self.text, CODE: self.code, PARAMS: dict(self.params)}


def summary_of(code: str, **params: Param) -> Summary:
    """The sentence of this code.

    Raises:
        KeyError: there is none.
        SentenceError: it takes other parameters.
    """
    return Summary(code, params, rendered(SUMMARIES[code], params))


def kept_summary(impact: Mapping[str, Any]) -> dict[str, Any]:
    """Of a plan that is kept; one of an earlier version has its English alone, so no code."""
    return {
        TEXT: impact.get(TEXT, ""),
        CODE: impact.get(CODE),
        PARAMS: impact.get(PARAMS, {}),
    }
