"""Rows of a plan's `impact.warnings`, made of the sentences in `operations.sentences`. Pure."""

from collections.abc import Iterable
from typing import Any

from controlplane.common.grants import Area
from controlplane.common.sentences import Param, Phrases
from controlplane.operations.naming import NAMED, everything, named_text
from controlplane.operations.risks import Risk
from controlplane.operations.sentences import warning_text

WARNING = "warning"


def warning_of(
    sentence: str,
    severity: str = WARNING,
    *,
    risk: Risk | None = None,
    phrases: Phrases | None = None,
    **params: Param,
) -> dict[str, Any]:
    """One row of `impact.warnings`; severity is info, warning or danger.

    With a risk the plan is confirmed only with its name typed. `sentence` is a code of
    `sentences.WARNINGS`; what stands before its first `/` is the warning's own code.

    Raises:
        KeyError: there is no such sentence.
        SentenceError: it takes other parameters.
    """
    said = {
        "text": warning_text(sentence, params, phrases),
        "text_code": sentence,
        "params": dict(params),
    }
    return _row(sentence, severity, risk) | said


def naming_warning(
    sentence: str,
    severity: str,
    area: Area,
    names: Iterable[tuple[str, str]],
    *,
    risk: Risk | None = None,
) -> dict[str, Any]:
    """A warning that ends with names, of which each reader is told those that they see.

    `names` are pairs of a name and how it is said, the most important first. The sentence takes
    `names` and `more`; `<sentence>/hidden`, for who sees none of them, `more` alone.
    """
    named = {"sentence": sentence, "area": area.value, "names": list(names)}
    return {**_row(sentence, severity, risk), **named_text(named, everything), NAMED: named}


def _row(sentence: str, severity: str, risk: Risk | None) -> dict[str, Any]:
    row = {"code": sentence.partition("/")[0], "severity": severity}
    return row if risk is None else {**row, "risk": risk.value}
